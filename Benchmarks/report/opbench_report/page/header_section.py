"""The first lines of the page: when and where the results were measured, what is better, and which subjects are
shown."""


def section(results):
    subjects = ", ".join(map(str, results.general.arms))
    left_out = results.left_out_changes or 0
    return {
        "occasion": " ".join([*_occasions(results), _better(results)]),
        "subjects": f"{subjects}; {left_out} changes of their strategies" if left_out else subjects,
        "left_out": left_out,
    }


def _occasions(results):
    """Returns when and where each result was measured, as far as it is known."""
    for source in results.sources:
        record = source.record or {}
        when, model, cpus = str(record.get("started_at") or "")[:10], record.get("cpu_model"), record.get("cpus_allowed")
        words = [f"on {when}"] if when else []
        if source.machines_sentence:
            yield f"{source.name}: measured {' '.join([*words, source.machines_sentence])}."
            continue
        words += [f"with {cpus} CPU{'' if cpus == 1 else 's'}" + (f" of an {model}" if model else "")] if cpus else []
        words += [f"Linux {record['kernel']}"] if record.get("kernel") else []
        if words:
            yield f"{source.name}: measured " + ", ".join(words) + "."


def _better(results):
    if results.reference is None or results.has_general_view:
        return "Less time is better."
    return f"Less time is better: in the first picture what stands further left; {results.reference} is at 1."
