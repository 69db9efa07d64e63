package meaning

import (
	"cmp"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// lineKind is what a line of a log is about, ordered by how likely it says why the program failed.
type lineKind int

const (
	lineEmpty   lineKind = iota // a mark, an exit, a traced command, a frame of a stack
	lineHint                    // what a reader may do or read
	lineTally                   // a summary that counts
	lineQuiet                   // a message of a level below an error
	lineDetail                  // an indented line
	lineVague                   // the failure of something, without its cause
	lineMurmur                  // an error in a message of a level below an error
	linePlain                   // anything else
	lineFinding                 // the count of what a program found that it looks for
	lineAlarm                   // an error
	lineSuccess                 // earlier errors are overcome
)

// logLine is a line of a log.
type logLine struct {
	// text is the message of a structured line (JSON, logfmt) with its error; of other lines, what follows their time.
	text string
	kind lineKind
	// indented reports whether the line is a detail of one above it, and ranked whether only its level says that it is an error.
	indented, ranked bool
}

// lineRule gives a kind to the lines that begin with a match of one of its patterns, or have one of its phrases, in lower case. The
// first rule that holds for a line counts.
type lineRule struct {
	kind     lineKind
	patterns []string
	phrases  []string
	pattern  *lazyregexp.Regexp
}

// lineRules have what says nothing about the cause; the rules about a tool have what it prints after each error.
var lineRules = compiled([]lineRule{
	{kind: lineVague, patterns: []string{`command terminated with exit code \d+$`, `error: failed to (?:push some refs to|fetch some objects from) `, `lost connection$|error: \d+ bytes of body|fatal: (?:early EOF|fetch-pack: |index-pack failed)|All renewals failed`, `\.{3,}(?i:failed)[.!]?$`, `Failed running "`, `Failure, exiting$`, `rsync warning: some files vanished`, `CommandException: \d+ files/objects could not be`}, phrases: []string{"unable to start the sftp session", "broker transport failure"}}, // of kubectl exec, git, CockroachDB, pg_upgrade, rsync, and gsutil
	{kind: lineAlarm, patterns: []string{`Missing (?:input|output) files\b`, `Cypress could not verify\b`, `\w+ has detected an attempt to\b`, `\S+ \(no such package\):$`, `\S+:\d+ - no attempt$`}}, // of Snakemake, apk, and pg_isready
	{kind: lineEmpty, patterns: []string{
		// a ruler, a command that a shell traces, an empty output, and a comment in SQL or an object of JSON in several lines
		`[^\pL\pN]*$`, `\++ `, `std\w+=\[\]$`, `[\w ./()-]{1,60}:$|\[\d+\]:$|\w+ in file \S+, line \d+:$`, `<[A-Z_]+>$`, `On branch `, `--(?: |$)`, `"[\w.@-]+" ?: ?(?:[\[{"\d]|null|true|false)`, `[A-Z][\w ]{0,20} : \d+$`,
	}},
	{kind: lineEmpty, patterns: []string{ // exits
		`(?i:error: )?(?:exit|exited with)(?: (?:status|code):?)? \d+\.?$`, `signal: (?:aborted|killed)$`, `Aborted \(core dumped\)$`, `\[\d+\] +\d+ abort `, `(?i:killed|terminated|done|finished|exiting|aborting|aborted|bye|success|cleaning up)[.!…]*$`, `(?i:shutting down)(?:,? [\w-]+){0,6}[.!…]*$`, `\W*(?i:(?:error|elifecycle)\W+)?(?i:command|process|job|script|step|task)(?: (?:failed|completed|exited|finished))?(?: with (?:an )?error)?:? (?:with )?(?:non-zero )?exit (?:code|status)\W+\d+\W*$`, `[^:]*\b(?i:exited(?: with (?:status|code))?|exiting with (?:status|code)|exit(?:ing)? (?:status|code)) \d+(?: in '[^']*')?\.?$`,
	}, phrases: []string{"(exitcode: 1)", "(systemexit) exit", "unhandled promise rejection. this error originated", "unhandled promise rejections are deprecated"}},
	{kind: lineEmpty, patterns: []string{ // stacks
		`(?i:traceback \(|(?:stack|back|exception) ?trace(?:back)?:?$|stack (?:back)?trace(?:back)?:$|\[stacktrace\]|require stack:|--- end of |goroutine \d+ \[|the above exception was|during handling of the above)`,
		// Java, .NET, Node.js and Newman; Go; Ruby, PHP and gdb
		`at \S+[ (].*(?::\d+|\)|\bin )`, `at \S+:\d+`, `\.\.\. \d+ (?:more|common frames)`, `File "[^"]+", line \d+`, `- /\S+\.js$`, `Node\.js v\d`, `node:internal/`, `inside "`, `\S+\.go:\d+ \+0x`, `created by \S+`, `[\w./*()-]+\.[\w.*()-]+\((?:0x|\{|\.\.\.|\)$)`, `panic\((?:0x|\{)`, `\[signal `, `(?:from )?\S+:\d+:in [^']*'?$`, `#\d+ `, `thrown in \S+ on line`, `from /\S+$`,
		// Lua, C++ and Rust; code in Terraform, BuildKit, Laravel
		`\[C\]: in `, `\S+:\d+: in (?:main chunk|function|local|method|upvalue|field)\b`, `#?\d+[.:]? +(?:.*@ )?0x[\da-f]`, `\d+: (?:<|\w+(?:::|$))`, `\S+\(\S*\+0x[\da-f]+\) ?\[0x`, `on \S+ line \d+\b`, `with [\w.\["\]-]+,$`, `\d+: \w+ "[^"]*".* \{$`, `(?:>+ )?\d+ ?\| `, `Calls: `,
	}},
	{kind: lineEmpty, patterns: []string{ // tools
		`npm (?:ERR!|error) +(?:A complete log|Log files|[/\\~]|[A-Z]:\\|code |errno |Exit status|Failed at the|This is probably not|Lifecycle script|\S+@\S+ \w+:|workspace |location |path |command |$)|npm ERR!$|npm error$`, `npm (?:ERR!|error) (?:notarget (?:In most|a package)|(?:enoent|network|rofs|nospc)(?: (?:This is|In most|and have|'proxy'|Often|that don't|There is)|$)|To see a list|If you were|authentication token|that means|Error: command failed|  |notsup (?:Required|Actual):|npm-shrinkwrap\.json with|later to generate|node_modules/|While resolving|Found: |Could not resolve dependency:|Fix the upstream|this command with|to accept an incorrect|See /)`,
		`DbError \{ severity`, `status code: \d+, request id: `, `Error: P\d{4}$`, `Error: (?:Could not create the Java Virtual Machine|A fatal exception has occurred\. Program will exit)\.$`, // Prisma, Java
		`note: run with .RUST_BACKTRACE`, `thread '.*' panicked at [^']*:$`, `Execution halted`, `make(?:\[\d+\])?: \*\*\* .*Error \d+`, `Tasks: TOP => `, `(?:rake|rails) aborted!`, `BUILD FAILED in `, `BUILD FAILURE$`, `FAILURE: Build failed with an exception`, `\* (?:Try|Where|What went wrong):$`, `\[ERROR\](?: (?:-> )?\[Help \d+\].*)?$`, `\[ERROR\]   mvn `,
		`(?:DETAIL|HINT|CONTEXT|STATEMENT|LINE \d+): `, `(?:ROLLBACK|BEGIN|COMMIT|(?:CREATE|ALTER|DROP) [A-Z]+)$`, `(?:pg_\w+: detail: )?(?:Command|Query) was: `, `SQLSTATE: \w{5}$`, // PostgreSQL
		`Error Number:\d+,State:`, `ClientConnectionId:`, `# +failure +detail$`, `Line \|$`, `% Total +% Received|Dload +Upload|[<>] (?:[A-Z]+ /|HTTP/|[\w-]+: )|\* (?:upload|Connect|Trying|Closing|Mark|TLS|SSL|ALPN)`, // SQL Server, Newman, PowerShell, curl
		`\.\. \S+ pid \d+: Test failure`, `Primary job +terminated normally`, `a non-zero exit code\.+ Per user-direction`, `\S+ detected that one or more processes exited`,
		`NOTE: invoking MPI_ABORT`, `You may or may not see output`, `exactly when Open MPI kills`, `with errorcode \d`, `the job to be terminated\. The first process`, `Process name: \[\[`, `Exit code: +\d+$`, // nccl-tests, Open MPI
		`BEGIN failed--compilation aborted`, `Compilation failed in require`, `(?:\S+ )?Build did NOT complete`, `Target \S+ failed to build`, `PLAY RECAP `, `(?i:npm )?\[?(?i:notice)\b`, `Sentry is attempting to send `, `Waiting up to [\d.]+ seconds$`, `Press (?i:ctrl)[-+]`, `warning [A-Z]\w+ `, `error Command failed with exit code \d`, `Build step .* marked build`, `Finished: [A-Z]+$`, `-> (?:Applied to|Resolved) `, `\[SQL: `,
	}},
	{kind: lineHint, patterns: []string{
		`\S*[/\\]\S*$`, // a path or URL alone
		`hint: |wget: note: |[*•] If you |The (?:error|offending line) appears to be`, // git, BusyBox, kubectl, Ansible
		`Complete log: |(?:Output|Log|Report): +/|N: `, `[^\w./]*(?:(?:info|note|ERROR)\b\W*)?(?i:for (?:more|further|full) |to (?:see|get) (?:the )?(?:full|more) )`,
		// A colon before a flag or word, or after a path, belongs to an error, such as "read /data/x: …" of Go.
		`[^\w./]*(?:(?:info|note|[A-Z]*ERROR)\b\W*)?(?i:re-?run|run|try|see|use|visit|get more help|learn more|read|please)(?i: .*https?://|(?: [^:]*)? --?[a-z]| [^:]*(?:\b(?:more|documentation|issues?)\b|/[^\s:]+/[^\s:]*(?:\s|$)))`, `Tip: `, `Type .* for (?:usage|help|a list)`, `(?i)(?:\w+: )?(?:usage:|(?:see|run|try|use) .*--help)`, `\(Background on this error`, `is (?:there|the) .*\?$`, `(?i)\W*(?:\[ERROR\] )?please (?:refer|make sure|see|check|consult)\b`,
	}, phrases: []string{"client-go credential plugin", "to enable traceback see", "need some help", "learn more"}},
	{kind: lineTally, patterns: []string{
		`[^│]*│[^│]*│`, `[^|]*\|.*\|$`, `[*•] [\w-]+: \d+$`, // a row of a table, and a part of a count
		`FAIL\t`, `ok +\t\S+\t`, `=+ (?:ERRORS|FAILURES|short test summary info|warnings summary|.*\d (?:error|failed|passed).*) =+$`, `!+ (?:Interrupted: |stopping after ).* !+$`, `\d+ tests?, \d+ passed`, `(?:Tests|Test Suites|Snapshots|Time): +\S`, `\d+ examples?, \d+ failures?`, `Finished in \d`, `[\w ]+ Count: \d+$`, `[^.]+(?:\.[\w]+)*: ?\.{4,} ?[\d.]+$`, `➤ YN0000: `, // Go, pytest, Robot Framework, Jest, RSpec, Prisma, Artillery, Yarn
		`\d+ document\(s\) restored successfully`, `\d+ renew failure`, `\W*(?i:(?:failed |total )?(?:attempts?|tries|retries)(?: so far)?\W+\d+)\W*$`, `\W*\d+ (?:failed|passed|errors?|warnings?)\b.*\b\d+ (?:failed|passed|errors?|warnings?|skipped)`, `(?i:INFO: elapsed time|transferred|checks|errors|elapsed time|total(?: time| size is)?|sent \d+ bytes|deleted)\b.*\d`,
	}, phrases: []string{"errors ignored on restore", " unreachable=", " pass="}}, // pg_restore, Ansible, dbt
	{kind: lineVague, patterns: []string{
		`\S+: (?:line )?\d+: \[\[?: `, `Failed: \S*/\S+$`, `(?i:(?:error: )*(?:aborting\b|timed out waiting for the condition\W*$|context (?:deadline exceeded|canceled)$))`, `(?:\w+ )?(?i:failed|failure|fail|aborted)[.!]?$`, `(?i:\W*(?:an )?(?:unknown )?error (?:occurred|has occurred))[.!]?$`, `\S+ FAILED$`, `Error starting ApplicationContext\b`, `.*\[Server\] Aborting$`, `ERROR \S+\.py$`, `[^:]*\b(?:can ?not|can't|could not|unable to) (?:proceed|continue|go on)\b(?:[^:\w]+\w+){0,2}\W*$`,
		`[\w\[\] -]+ (?:contain|ha[sd]|with|encounter)\w* (?:(?:\d+|some|one|or|more) )*(?:error|failure)s?\b(?:[^:\w]+\w+){0,2}\W*$`, `[^:]*\b(?:these|previous|earlier) (?:error|failure|problem)s?\W*$`, `error: could not compile `, `Error: [A-Z][a-z]+(?:[A-Z][a-z]+)+$`, `\[ERROR\] The build could not read \d+ project`, `ERROR: Could not build wheels for `, `Error: LinkageError occurred while loading main class`, `tar: (?:Error is not recoverable|Exiting with failure|Child returned)`, `Could not create service of type `, `rsync error: .* \(code \d+\) at `, `> Could not resolve all `, `Execution failed for task '`, `A problem occurred \w+ing `, `[\w.:]+(?:Error|Exception):?$`, `terminate called after throwing`, `fatal: Could not read from remote repository`, `bundler: failed to load command`, `[A-Z]\w+ (?:Error|Exception)$`, `FAILURES!$`, `.*\| FAIL \|$`,
	}, phrases: []string{
		"adminclient thread has exited", "java gateway process exited", "exiting due to an error", "see above", "see previous", "error messages above", "look above for", "see stack trace", "for the root cause", "argument(s) skipped)", "is exiting with a non-zero code", "mostly caused by", "probably caused by", "migrations canceled", "job did not complete successfully", "final block not properly padded", "refusing to execute subprocess", "resolutionimpossible",
	}},
	{kind: lineSuccess, patterns: []string{`(?i:re)?(?i:connected) after\b`}, phrases: []string{"succeeded after", "recovered after"}},
})

func compiled(rules []lineRule) []lineRule {
	for i := range rules {
		rules[i].pattern = lazyregexp.New(`^(?:` + strings.Join(rules[i].patterns, "|") + `)`)
	}
	return rules
}

// levels matches the names of levels, as most loggers write them.
const levels = `(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR?)?|FATAL|CRIT(?:ICAL)?|SEVERE|PANIC)`

var (
	// level matches the level of a message.
	level = lazyregexp.New(`^\W*(?:\[[^\]]*\]\W*|[\w.-]+: )?` + levels + `\b`)
	// alarm matches lines that report an error, and the elements of a list of errors.
	alarm = lazyregexp.New(`^[*•] |^server closed the connection |^(?:[a-z]\w*\.)+[A-Z]\w*: \S|^(?:curl|wget|sed|awk|grep|xargs|jq|[bd]?ash|sh|cat|cp|mv|ln|mkdir|touch|ls|nc|ping|g?unzip|gzip|base64|ld|g?cc): \S|[✘✖❌] +\S|^(?i:caused by): |^what\(\): |^[A-Z]\w*(?:::[A-Z]\w+)+: |^\S+\.rb:\d+:in \S+ .+ \([\w:]+\)$|^● |^E: |^You must |^(?:\w+: \S+, )*(?i:message|reason|cause|details?): \S|^remote: (?:GitLab: |You |Invalid |Access |Write |Repository |Support for |The project |Not |Permission |HTTP )|Killed +\S|^push of \S+ rejected: |^\(error\) |^\(!\) |^(?:\[[^\]]*\] )?Error \w+ing\b`)
	// connected matches the end of a series of attempts.
	connected = lazyregexp.New(`^(?i:re)?(?i:connected)\b`)
	// errorWord matches the name of an error before its text, and errorWords are the words that it contains.
	errorWord  = lazyregexp.New(`(?i)(?:error|exception|\bfatal|\bpanic)(?:[:\]]|\b.*:|\b in \w)`)
	errorWords = []string{"error", "exception", "fatal", "panic"}
	// failures are phrases of errors.
	failures = []string{
		"is invalid", "does not exist", "doesn't exist", "not installed", "not found", "is missing", "denied", "forbidden", "failed", "failure", "refused", "unable to", "cannot", "can't",
		"could not", "couldn't", "not permitted", "timed out", "connection closed by remote", "panicked at", "(core dumped)", "is not a", "is not configured", "is not set", "is not defined", "is not supported", "is not recognized",
		"no matches for kind", "mismatch", "aborting because", " but got ", " but was ", "has to be ", "not enough ",
	}
	// advices are phrases that say what a reader may do: they follow an error.
	advices = []string{"please", "not recommended", "you can", "you may", "you should", "can be used to", "try again", "for more information"}
)

func hasAny(lower string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(lower, phrase) })
}

var (
	// levels below an error, and those of errors; any other level, such as http of winston, may be either
	quietLevels = []string{"TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING"}
	errorLevels = []string{"ERROR", "ERRO", "ERR", "FATAL", "CRITICAL", "CRIT", "SEVERE", "PANIC", "DPANIC", "ALERT", "EMERGENCY", "EMERG"}
)

// logLines are the lines of a log; each is read when it is first needed.
type logLines struct {
	raw  []string
	read []*logLine
	// succeeds reports whether a success is at the end: only an error before it says more.
	succeeds bool
}

func linesOf(raw []string) *logLines {
	return &logLines{raw: unfolded(raw), read: make([]*logLine, len(raw))}
}

func (l *logLines) at(i int) *logLine {
	if l.read[i] == nil {
		l.read[i] = readLine(l.raw[i])
	}
	return l.read[i]
}

var linesRead = newMemo()

// readLine returns a line of a log with its kind. The result is shared: callers must not change it.
func readLine(raw string) *logLine {
	return memoized(linesRead, raw, raw, func() *logLine { return newLogLine(raw) })
}

func newLogLine(raw string) *logLine {
	line := &logLine{}
	var severity string
	text, named, isRecord := structured(strings.TrimSpace(raw))
	if isRecord {
		line.text, severity = text, strings.ToUpper(named)
	} else {
		text, severity, line.indented = written(raw)
		line.text = strings.TrimLeft(strings.TrimSpace(text), ": ")
	}
	for _, r := range rewrites {
		line.text = r.pattern.ReplaceAllString(line.text, r.text)
	}
	if value := quotedPair.Group(line.text); value != "" {
		line.text = value
		line.kind = lineAlarm
		return line
	}
	switch line.kind = kindOf(line.text, slices.Contains(quietLevels, severity)); {
	case line.kind == lineEmpty && slices.Contains(errorLevels, severity) && strings.HasSuffix(line.text, ":") && complaint.MatchString(line.text[len(level.FindString(line.text)):]):
		line.kind = lineAlarm // It ends in the next line.
	case (line.kind == linePlain || line.kind == lineAlarm) && slices.Contains(errorLevels, severity):
		message := line.text[len(level.FindString(line.text)):]
		line.kind, line.ranked = lineAlarm, !isRecord && kindOf(message, false) != lineAlarm
		if first, _, _ := strings.Cut(message, ". "); line.ranked && hasAny(strings.ToLower(first), advices) {
			line.kind = linePlain
		}
	case line.kind == linePlain && line.indented:
		line.kind = lineDetail
	}
	return line
}

// written returns the text and the level of a line that is no record, and reports whether it is indented.
func written(raw string) (text, severity string, indented bool) {
	// A box around an error, as Terraform draws it; an object of Node.js.
	text = strings.TrimPrefix(strings.TrimLeft(raw, "╷╵│|"), "{ ")
	inBox := len(text) < len(raw)
	text, severity = unstamped(text)
	return text, severity, strings.HasPrefix(text, "\t") || strings.HasPrefix(text, "  ") || strings.HasPrefix(text, " ") && !inBox
}

func kindOf(text string, quiet bool) lineKind {
	if finding.MatchString(text) {
		return lineFinding
	}
	lower := strings.ToLower(text)
	for i := range lineRules {
		if lineRules[i].pattern.MatchString(text) || hasAny(lower, lineRules[i].phrases) {
			if kind := lineRules[i].kind; kind != lineVague || !quiet {
				return kind
			}
			return lineEmpty
		}
	}
	switch isAlarm := hasAny(lower, failures) || hasAny(lower, errorWords) && errorWord.MatchString(text) || alarm.MatchString(text); {
	case !isAlarm && connected.MatchString(text):
		return lineSuccess
	case quiet && isAlarm:
		return lineMurmur
	case quiet:
		return lineQuiet
	case isAlarm:
		return lineAlarm
	}
	return linePlain
}

var (
	// stamp matches a time at the beginning of a line, the container whose line Compose passes on, or the rank of a process of mpirun.
	stamp = lazyregexp.New(`^ ?(?:[a-z][\w.-]* +\| )?(?:\(node:\d+\) (?:UnhandledPromiseRejectionWarning: )?|\[?(?:\d\d)?\d\d[-/.]\d\d[-/.]\d\d(?:T|,? )\d\d:\d\d:\d\d[^\s\]]*(?: [A-Z]{3,4}\])?\]?(?:\[[a-z][\w.-]*\])?\s?(?:\d+: )?|(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? (?:[A-Z]{3,4} \d{4} |\d{4}(?:\[[\d,]+\])?<\w+>:)?|\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?(?: - |  ?(?:\| )?|$)|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+\] |\[[a-z]*\d+(?:,\d+)?\](?:<\w+>)?:\s*|\S+:\d+:\d+ \[\d+\] (?:\S+\.\w+:\d+ )?)|^[a-z][\w.-]* +\| `)
	// token matches one of the things that loggers write before a message: a level, something in brackets, a place in code, or a name with dots
	// before a mark; beforeLevel matches a number or a time, which they write before the level, and levelIn the level in a token.
	token       = lazyregexp.New(`^\s*(?:(?:[A-Z]\w*(?: \w+)?:|[A-Z]{4,} )?` + levels + `\b\]?|\[[\w$.,:/#@+-]{0,60}\]|\[ *[\w-]*(?i:thread|main|worker|pool|exec)[\w #:-]*\]|\[ *[A-Z]+ *\]|\{[^{}\s]+\}|[\w./$-]+\.(?:go|py|java|rb|[jt]sx?|cc?|cpp|h|rs|php|scala|kt|cs|lua|pl|exs?)(?::|\()\d+\)?\]?|\w[\w$]*(?:\.[\w$*\[\]]+){2,}(?:\(\w+\))?(?::|\s+[-:|]+)(?:\s|$)|[a-z]\w*(?:::|_\w+_)[\w:]*:\s|:[\w.]+:|/[\w.-]+\]|std(?:err|out)\b|\d\d[-/]\d\d \d\d:\d\d:\d\d\S*|\d+ ---)(?:\s*[:|-]+\s+|\s+)?`)
	beforeLevel = lazyregexp.New(`^\[?(?:\d[\d:/.-]*[:\s]+)+`)
	levelIn     = lazyregexp.New(`\b` + levels + `\b`)
	// klog matches the level and the date of a line of klog, and glog the level of a line of TensorFlow, etcd or Rook.
	klog = lazyregexp.New(`^([IWEF])\d{4} `)
	glog = lazyregexp.New(`^([A-Z]) (?:\S+:\d+\]|\|) `)
	// quotedPair matches the message in an object of JSON in several lines, or in a page of HTML.
	quotedPair = lazyregexp.New(`^"(?:msg|message|error|reason|detail|error_description|errorMessage)" ?: ?"([^"].*)",?$|<(?:title|h1)>([45]\d\d [^<]+)<`)
	// trailing matches a message with an error after it: in an object of Ruby, or in a field of hclog or klog.
	trailing = lazyregexp.New(`^(.*?):? (?:\{:\w+=>.*:message=>|err(?:or)?=)("(?:[^"\\]|\\.)*")`)
	// field matches the message, the error and the level of a line in the format logfmt.
	field = lazyregexp.New(`\b(msg|message|error|err|level)"?=("(?:[^"\\]|\\.)*"|\S+)`)
)

// rewrites put the error of a line in the place of what programs write around it.
var rewrites = []struct {
	pattern *lazyregexp.Regexp
	text    string
}{
	{lazyregexp.New(`^(?:[A-Z]+\s+)?(https?://[^\s"]+) "([A-Z]+) (\S+) HTTP/[\d.]+" (5\d\d)\b.*$`), "request failed with status $4: $2 $1$3"},        // urllib3
	{lazyregexp.New(`^(?:Error: ((?:UPGRADE|INSTALLATION) FAILED: ))?.*(no matches for kind \\?"[^"\\]+\\?" in version \\?"[^"\\]+\\?").*`), "$1$2"}, // of a kind that the API server does not serve, without what was to be done with objects of it
	{lazyregexp.New(`Forbidden: Forbidden`), "403 Forbidden"},
	{lazyregexp.New(`^.*\bexit (?:status|code) \d+:? "(\w.*?)(?:\\n|\s)*"$|^.*The promise rejected with the reason "(.*)"\.\].*`), "$1$2"},                                         // the output of a command
	{lazyregexp.New(`Bad response statusCode \[\d+\]\. Status \[[^\]]*\]\. Body: \[.*?message=(.*)\] from \[\S*\]`), "$1"},                                                         // Rancher, Longhorn
	{lazyregexp.New(`^((?:[\w.]+: )?(?:\w+\.)*[A-Z]\w+)\(['"]([^\\]+?)(?:\\n.*)?['"],?\)$`), "$1: $2"},                                                                             // an exception of Python as print shows it
	{lazyregexp.New(`^! \[(?:remote )?rejected\] +(\S+) -> \S+ \((.*)\)$`), "push of $1 rejected: $2"},                                                                             // git
	{lazyregexp.New(` \[Failed SQL: .*$|, full error: \{.*$| for this kubernetes version and it is therefore unable .*error from kubernetes: unable to recognize \\?"[^"]*"`), ""}, // Liquibase, PyMongo, Helm
	{lazyregexp.New(`^[\w.]*(?:Error|Exception): \w+\((\d{3}), '(\w+)', ['"](.*?)['"](?:, .*)?\)$`), "$1 $2: $3"},                                                                  // Elasticsearch's Python client
	{lazyregexp.New(`^(?:pg_\w+: (?:detail: )?Error message from server: |Message +: |((?:ERROR|FATAL|FATAL ERROR): )\d{4}[/-]\d\d[/-]\d\d \d\d:\d\d:\d\d[.\d]* )`), "$1"},         // pg_dump, Flyway, WAL-G
}

// bunyanLevels are the levels of Bunyan and Pino, which are numbers.
var bunyanLevels = map[float64]string{10: "TRACE", 20: "DEBUG", 30: "INFO", 40: "WARN", 50: "ERROR", 60: "FATAL"}

// klogLevels are the levels that klog writes as the first letter of a line, and capnslog of etcd and Rook before a bar.
var klogLevels = map[string]string{"D": "DEBUG", "I": "INFO", "N": "NOTICE", "W": "WARNING", "E": "ERROR", "C": "CRITICAL", "F": "FATAL"}

// unstamped returns what follows the time of a line, and its level.
func unstamped(line string) (text, severity string) {
	begin := stamp.FindString(line)
	if text = line[len(begin):]; klog.MatchString(begin) && stamp.MatchString(text) { // The line of another program.
		return unstamped(text)
	}
	if m := glog.FindStringSubmatch(text); m != nil {
		return text[len(m[0]):], klogLevels[m[1]]
	}
	if rest, named := unlogged(text); named != "" {
		return rest, named
	}
	return text, cmp.Or(klogLevels[klog.Group(begin)], level.Group(strings.TrimSpace(text)))
}

// unlogged returns the message that follows the tokens of a logger, and its level; "" if there is no level with another token.
func unlogged(text string) (message, severity string) {
	others := len(beforeLevel.FindString(text))
	message = text[others:]
	for before := token.FindString(message); before != "" && (severity != "" || !bareName.MatchString(strings.TrimSpace(before))); before = token.FindString(message) {
		named := levelIn.Group(before)
		if named == "" || severity != "" || !strings.HasPrefix(strings.TrimLeft(before, " ["), named) {
			others++
		}
		severity, message = cmp.Or(severity, named), message[len(before):]
	}
	if others == 0 || message == "" {
		return text, ""
	}
	return message, severity
}
