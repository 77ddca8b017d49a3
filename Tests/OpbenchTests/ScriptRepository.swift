import Glibc
import LaboratorySupport
import Testing

@testable import HarnessMeasuring

/// A small repository with `scripts/gate`, and with the gate of the template for a package in a subfolder. Its compiler
/// copies a program instead of building one.
final class ScriptRepository {
  /// The two gates, by their place in the repository.
  static let scripts = ["scripts/gate", "sub/Benchmarks/gate"]

  /// What stands for `swift build`: its program is a script that says which sources it was built from.
  static let compiler = """
    #!/bin/sh
    package=. scratch=.build show= product=opbench
    while [ $# -gt 0 ]; do
      case "$1" in
        --package-path) package=$2; shift ;;
        --scratch-path) scratch=$2; shift ;;
        --product) product=$2; shift ;;
        --show-bin-path) show=1 ;;
        --version) echo "compiler ${COMPILER:-1}"; exit ;;
      esac
      shift
    done
    case $scratch in /*) ;; *) scratch=$PWD/$scratch ;; esac
    [ -z "$show" ] || { echo "$scratch/bin"; exit "${SHOW_CODE:-0}"; }
    echo built >>"$COUNTER"
    [ ! -f "$package/broken" ] || { echo "a.swift:1:1: error: it is broken"; exit 1; }
    mkdir -p "$scratch/bin"
    part=$(cat "$package/lib/part" 2>/dev/null)
    printf '#!/bin/sh\\necho "version %s%s: $*"; eval "$GATE_DOES"; exit "${GATE_CODE:-0}"\\n' \\
      "$(cat "$package/version")" "$part" >"$scratch/bin/$product"
    chmod +x "$scratch/bin/$product"
    """

  let folder: TemporaryFolder
  var path: String { folder.path }

  init() throws {
    folder = TemporaryFolder()
    mkdir("\(folder.path)/tools", 0o755)
    folder.writeProgram(Self.compiler, to: "tools/swift")
    sh(
      """
      set -e
      mkdir -p scripts/support sub/Benchmarks
      cp '\(Checkout.path("scripts/gate"))' scripts/
      for part in git strict; do cp '\(Checkout.path("scripts/support"))'/$part scripts/support/; done
      cp '\(Checkout.path(".gitattributes"))' .
      printf '.build/\\ntools/\\ncounter\\n' >.gitignore
      git init -q -b main . && git config user.email a@b && git config user.name n && git config commit.gpgsign false
      echo none >version && git add . && git commit -qm none && git tag none
      cp '\(Checkout.path("Examples/GateTemplate/Benchmarks"))'/gate* sub/Benchmarks/
      cp '\(Checkout.path("Examples/GateTemplate/Benchmarks/.gitattributes"))' sub/Benchmarks/
      touch sub/Benchmarks/Package.swift
      for name in one two; do
        echo $name >version && cp version sub/Benchmarks/ && git add . && git commit -qm $name && git tag $name
      done
      touch broken sub/Benchmarks/broken && git add . && git commit -qm broken && git tag broken
      git reset -q --hard two
      """)
  }

  func run(_ program: String, _ arguments: [String], _ environment: [String: String] = [:]) -> ProcessOutcome {
    // The tests may themselves run in a hook.
    let inside = "cd '\(path)' && unset $(git rev-parse --local-env-vars) && exec env \"$@\""
    let own = own.merging(environment) { $1 }.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    return ProcessRunner.run("sh", ["-c", inside, "sh"] + own + [program] + arguments, timeout: 120)
  }

  /// Runs a script of the shell in the repository, which must succeed, and gives its lines.
  @discardableResult
  func sh(_ script: String, sourceLocation: SourceLocation = #_sourceLocation) -> [String] {
    let outcome = run("sh", ["-c", script])
    #expect(outcome.ending == .exited(0), "\(outcome)", sourceLocation: sourceLocation)
    return outcome.lines
  }

  /// Runs a gate with standard error among its lines.
  func gate(_ script: String, _ arguments: String..., environment: [String: String] = [:]) -> ProcessOutcome {
    run("sh", ["-c", "exec \"$0\" \"$@\" 2>&1", script] + arguments, environment)
  }

  /// Where the compiler is found, and counts.
  var own: [String: String] {
    let path = getenv("PATH").map { String(cString: $0) } ?? ""
    return ["PATH": "\(self.path)/tools:\(path)", "COUNTER": "\(self.path)/counter"]
  }

  /// How often something was built, or tried to be.
  var builds: Int { folder.read("counter")?.split(separator: "\n").count ?? 0 }

  /// Puts a program before that of the same name on the path. `REAL` is the other one.
  func replace(_ name: String, _ script: String) {
    folder.writeProgram("#!/bin/sh\nREAL=$(PATH=${PATH#*:} command -v \(name))\n\(script)\n", to: "tools/\(name)")
  }

  /// All that git knows of the repository and of the user's files.
  var state: [String] {
    sh(
      "git symbolic-ref HEAD; git rev-parse HEAD; git status --porcelain; git worktree list; git ls-files --stage; git config --list --local"
    )
  }
}
