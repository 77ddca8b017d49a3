"""The page in a real browser, headless: it draws, filters, sorts and toggles, fits a phone, follows the dark mode, and
stays at home."""

import itertools
import json
import shutil
import time

import pytest

from asking import report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER),
    reason="no chromium here: the page was not tried in a browser (apt-get install chromium chromium-driver)",
)


class Browser:
    """A headless window on the page, which waits until everything is drawn."""

    def __init__(self, address, width, height, dark=False, drawn="drawn"):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in (
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            f"--window-size={width},{height}",
        ):
            options.add_argument(argument)
        options.add_experimental_option(
            "mobileEmulation",
            {"deviceMetrics": {"width": width, "height": height, "pixelRatio": 1, "touch": width < 600}},
        )
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.driver.execute_cdp_cmd("Network.enable", {})
        if dark:
            self.dark(True)
        self.driver.get(address)
        self.wait(f"document.documentElement.dataset.{drawn}")

    def dark(self, on):
        feature = {"name": "prefers-color-scheme", "value": "dark" if on else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    def ask(self, script, *arguments):
        return self.driver.execute_script(f"return {script}", *arguments)

    def wait(self, condition):
        for _ in range(300):
            if self.ask(condition):
                return
            time.sleep(0.05)
        raise AssertionError(f"never came true: {condition}")

    def keys(self, *keys):
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()


@pytest.fixture(scope="module")
def address(csv, tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    assert report(csv, "--output", str(folder), "--no-pictures") == 0
    return (folder / "report.html").as_uri()


def opened(*arguments, **options):
    browser = Browser(*arguments, **options)
    yield browser
    browser.driver.quit()


@pytest.fixture(scope="module")
def desktop(address):
    yield from opened(address, 1280, 900)


@pytest.fixture(scope="module")
def phone(address):
    yield from opened(address, 390, 844)


def test_no_error_and_no_request(desktop, address):
    assert [entry for entry in desktop.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    requests = [json.loads(entry["message"])["message"] for entry in desktop.driver.get_log("performance")]
    asked = [one["params"]["request"]["url"] for one in requests if one["method"] == "Network.requestWillBeSent"]
    assert {url for url in asked if not url.startswith(("data:", "blob:"))} <= {address}
    # Nothing that the hostile text of the results asks for has happened.
    assert desktop.ask("document.querySelectorAll('img').length") == 0


def test_every_plot_has_marks(desktop, built):
    marks = desktop.ask(
        "[...document.querySelectorAll('.plot')].map(p => p.querySelectorAll('svg .points path, svg .point').length)"
    )
    assert len(marks) > 20 and min(marks) > 0
    assert desktop.ask("document.querySelectorAll('.plot svg .errorbar').length") > 100
    assert desktop.ask("document.querySelectorAll('section.chart').length") == len(built[0])


def test_a_mark_says_its_numbers(desktop):
    texts = desktop.ask("document.querySelector('.plot').data.filter(t => t.customdata).flatMap(t => t.customdata)")
    assert any("[" in text and "foundation" in text for text in texts)


def test_subjects_can_be_switched_off_by_keyboard(desktop):
    shown = (
        "[...document.querySelectorAll('.plot')].flatMap(p => p.data).filter(t => t.meta === 'stealing' &&"
        " t.visible).length"
    )
    before = desktop.ask(shown)
    desktop.ask("document.querySelector('#toggles input[data-subject=\"stealing\"]').focus()")
    desktop.keys(" ")
    desktop.wait(f"({shown}) === 0")
    desktop.keys(" ")
    desktop.wait(f"({shown}) === {before}")
    assert before > 10


def test_what_is_off_leaves_no_gap(desktop):
    height = "document.getElementById('plot-0').layout.height"
    before = desktop.ask(height)
    box = "document.querySelector('#toggles input[data-subject=\"threadpool\"]')"
    desktop.ask(f"{box}.click()")
    desktop.wait(f"{height} < {before}")
    desktop.ask(f"{box}.click()")
    desktop.wait(f"{height} === {before}")


def test_marks_at_the_same_percentile_stand_side_by_side(desktop):
    places = desktop.ask(
        "document.querySelector('#chart-latency .plot').data.filter(t => t.customdata).map(t => t.x[0])"
    )
    assert len(places) > 2 and len(set(places)) == len(places)


def test_the_ratio_of_the_table_is_on_a_phones_screen(phone):
    left = phone.ask("document.querySelector('#cells tbody td:nth-child(3)').getBoundingClientRect().left")
    assert left < 390 and phone.ask("getComputedStyle(document.querySelector('.sideways')).display") == "block"


def test_focus_can_be_seen(desktop):
    desktop.ask("document.querySelector('#cells thead button').focus()")
    desktop.keys("\ue004")  # Tab
    outline = desktop.ask(
        "getComputedStyle(document.activeElement).outlineStyle + ' ' +"
        " getComputedStyle(document.activeElement).outlineWidth"
    )
    assert outline == "solid 3px"


def column(browser, place):
    return browser.ask(f"[...document.querySelectorAll('#cells tbody tr')].map(r => r.cells[{place}].textContent)")


def test_the_table_filters_and_sorts_by_keyboard(desktop):
    total = int(desktop.ask("document.getElementById('table-count').textContent").split()[2])
    desktop.ask("document.getElementById('filter-words').focus()")
    desktop.keys("forkjoin ns_per_op @2")
    desktop.wait("document.getElementById('table-count').textContent.startsWith('12 of')")
    assert set(column(desktop, 0)) == {"forkjoin/fib"} and total > 300
    desktop.ask("document.querySelector('#cells button[data-column=\"4\"]').focus()")
    desktop.keys("\ue007")  # Enter
    numbers = lambda: [float(one.split(" ")[0].removeprefix("x")) for one in column(desktop, 2) if one]
    ratios = numbers()
    assert ratios == sorted(ratios) and len(ratios) == 10
    assert desktop.ask("document.querySelectorAll('#cells th')[2].getAttribute('aria-sort')") == "ascending"
    desktop.keys(" ")
    assert numbers() == ratios[::-1] and column(desktop, 2)[-1] == ""
    assert desktop.ask("document.querySelectorAll('#cells th')[2].getAttribute('aria-sort')") == "descending"
    desktop.ask(
        "(document.getElementById('filter-words').value = '', document.getElementById('filter-subject').value ="
        " 'rayon', document.getElementById('filter-subject').dispatchEvent(new Event('input', {bubbles: true})))"
    )
    assert set(column(desktop, 1)) == {"rayon@2"}


def test_no_column_of_the_table_is_clipped(desktop):
    """At this width, with the texts of the table's first hundred rows."""
    assert desktop.ask("(e => e.scrollWidth <= e.clientWidth)(document.getElementById('cells').parentElement)")


def test_more_rows_on_demand(desktop):
    desktop.ask(
        "(document.getElementById('filter-subject').value = '', document.getElementById('filter-words').value = '',"
        " document.getElementById('filter-words').dispatchEvent(new Event('input')))"
    )
    assert len(column(desktop, 0)) == 100
    desktop.ask("document.getElementById('table-more').click()")
    assert len(column(desktop, 0)) == 200


def test_controls_have_names(desktop):
    nameless = desktop.ask(
        "[...document.querySelectorAll('button, input, select, a, [role=img], [role=region]')].filter(e =>"
        " !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent.trim() || (e.labels &&"
        " e.labels.length && e.labels[0].textContent.trim()))).length"
    )
    assert nameless == 0


def test_a_phone_needs_no_sideways_scroll(phone):
    assert phone.ask("innerWidth") == 390
    phone.ask("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert phone.ask("document.documentElement.scrollWidth") == 390
    wide = phone.ask(
        "[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, pre, svg') &&"
        " e.getBoundingClientRect().right > 391).map(e => e.tagName + '.' + e.className).slice(0, 5)"
    )
    assert wide == []
    assert [entry for entry in phone.driver.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_the_first_screen_has_a_picture(desktop, phone):
    top = "document.querySelector('%s').getBoundingClientRect().top + scrollY"
    assert desktop.ask(top % ".plot") < 0.6 * desktop.ask("innerHeight")
    # On a phone the answers come first.
    assert phone.ask(top % ".lead") < 0.2 * phone.ask("innerHeight")
    assert phone.ask(top % "#in-short") < phone.ask(top % ".plot")
    for browser in (desktop, phone):
        assert browser.ask(top % "#occasion") < 0.5 * browser.ask("innerHeight")
    # Beside it are the sentences, where there is room.
    tops = "['.plot', '#in-short'].map(one => document.querySelector(one).getBoundingClientRect().top)"
    assert abs(desktop.ask(f"(([a, b]) => a - b)({tops})")) < 200


@pytest.mark.parametrize("name", ["desktop", "phone"])
def test_the_legend_shows_all_and_lets_nothing_through(request, name):
    browser = request.getfixturevalue(name)
    browser.ask("document.getElementById('latency').scrollIntoView()")
    browser.wait("document.getElementById('toggles').getBoundingClientRect().top === 0")
    bar = "document.getElementById('toggles')"
    assert browser.ask(f"{bar}.scrollWidth <= {bar}.clientWidth && {bar}.scrollHeight <= {bar}.clientHeight")
    cut = (
        f"[...{bar}.querySelectorAll('label')].filter(one => one.getBoundingClientRect().right > innerWidth ||"
        f" one.getBoundingClientRect().bottom > {bar}.getBoundingClientRect().bottom).length"
    )
    assert browser.ask(cut) == 0
    assert browser.ask(f"getComputedStyle({bar}).backgroundColor") == "rgb(255, 255, 255)"
    # Whatever lies on top within its rectangle, from edge to edge, is the bar.
    through = (
        f"(r => [...Array(60).keys()].flatMap(x => [...Array(10).keys()].map(y => document.elementFromPoint(r.left + 1"
        f" + (r.width - 2) * x / 59, r.top + 1 + (r.height - 2) * y / 9))).filter(e => !e.closest('#toggles')).length)"
        f"({bar}.getBoundingClientRect())"
    )
    assert browser.ask(through) == 0
    # And what was jumped to lies below it.
    below = f"document.getElementById('latency').getBoundingClientRect().top - {bar}.getBoundingClientRect().bottom"
    assert browser.ask(below) >= 0
    browser.ask("scrollTo(0, 0)")


@pytest.mark.parametrize("name", ["desktop", "phone"])
def test_numbers_of_metg_do_not_overprint(request, name):
    browser = request.getfixturevalue(name)
    boxes = browser.ask(
        "[...document.querySelectorAll('#chart-granularity .annotation-text')].map(e => [e.textContent,"
        " e.getBoundingClientRect()]).map(([t, r]) => [t, r.left, r.top, r.right, r.bottom])"
    )
    assert len([one for one in boxes if "@2" in one[0]]) == 6
    for one, other in itertools.combinations(boxes, 2):
        apart = one[3] <= other[1] or other[3] <= one[1] or one[4] <= other[2] + 2 or other[4] <= one[2] + 2
        assert apart, (one, other)
    marks = browser.ask(
        "[...document.querySelectorAll('#chart-granularity .points path')].map(e => e.getBoundingClientRect()).map(r =>"
        " [r.left + r.width / 2, r.top + r.height / 2])"
    )
    named = [one for one in boxes if "@2" in one[0]]
    hidden = [
        (x, y) for x, y in marks for _, left, top, right, bottom in named if left < x < right and top < y < bottom
    ]
    assert len(marks) > 50 and hidden == []


def test_on_a_phone_the_numbers_of_metg_stand_whole_below_the_picture(phone):
    where = "document.querySelector('#chart-granularity .plot').getBoundingClientRect()"
    left, top, right, bottom = phone.ask(f"(r => [r.left, r.top, r.right, r.bottom])({where})")
    boxes = phone.ask(
        "[...document.querySelectorAll('#chart-granularity .annotation-text')].filter(e => /METG|@2/.test(e.textContent)).map(e =>"
        " e.getBoundingClientRect()).map(r => [r.left, r.top, r.right, r.bottom])"
    )
    axis = phone.ask("document.querySelector('#chart-granularity .xtitle').getBoundingClientRect().bottom")
    assert len(boxes) == 7
    for box in boxes:
        assert left <= box[0] and box[2] <= right and axis - 4 <= box[1] and box[3] <= bottom + 1, (box, axis, bottom)


@pytest.mark.parametrize("name", ["desktop", "phone"])
def test_the_label_of_a_guide_does_not_stand_on_a_heading(request, name):
    browser = request.getfixturevalue(name)
    pictures = browser.ask(
        "[...document.querySelectorAll('.plot')].map(p => (p.layout.annotations || []).map((a, i) => [a.name,"
        " p.querySelectorAll('.annotation-text')[i]]).filter(([n, e]) => e && (n === 'title' || n === 'guide')).map(([n, e]) => {"
        " const r = e.getBoundingClientRect(); return [n, e.textContent, r.left, r.top, r.right, r.bottom]; }))"
    )
    checked = 0
    for boxes in pictures:
        for title in (box for box in boxes if box[0] == "title"):
            for guide in (box for box in boxes if box[0] == "guide"):
                apart = title[4] <= guide[2] or guide[4] <= title[2] or title[5] <= guide[3] + 3 or guide[5] <= title[3] + 3
                assert apart, (title, guide)
                checked += 1
    assert checked > 3


def test_axes_say_their_scale(desktop):
    titles = desktop.ask("[...document.querySelectorAll('.plot')].map(p => p.layout.xaxis.title.text)")
    assert "log scale, ← less is better" in titles[0]
    # A tall picture has its numbers above as well.
    assert desktop.ask("document.querySelectorAll('#plot-0 .x2tick text').length") > 2


def test_dark_mode_changes_page_and_plots(desktop):
    colours = (
        "[getComputedStyle(document.body).backgroundColor, document.querySelector('.plot').layout.font.color,"
        " document.querySelector('.plot').data[0].marker.color]"
    )
    light = desktop.ask(colours)
    desktop.dark(True)
    desktop.wait("document.querySelector('.plot').layout.font.color !== '%s'" % light[1])
    dark = desktop.ask(colours)
    assert all(one != other for one, other in zip(light, dark)) and dark[0] == "rgb(20, 23, 27)"
    desktop.dark(False)
    desktop.wait("document.querySelector('.plot').layout.font.color === '%s'" % light[1])
