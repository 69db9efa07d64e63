package meaning

import (
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// What the log of a program that has not failed says about its work.
var (
	// failedWork matches what scripts print about a failure of their work, and worked about a success.
	failedWork = lazyregexp.New(`(?i)\b(?:could ?n[o']t|failed to|unable to|cannot) (?:back ?up|upload|dump|copy|export|restore|migrate|sync|save|archive)\b|\b(?:back-?up|upload|dump|copy|export|restore|migration|sync|snapshot)\b(?: \S+){0,4} (?:has )?failed\b`)
	worked     = lazyregexp.New(`(?i)\bsuccess|\bsucceeded|\buploaded\b`)
	// harmless matches what is no failure, or one of something else than the work.
	harmless = lazyregexp.New(`(?i)\b(?:0|no|without|if|unless)\b|metric|traces?\b|spans?\b|telemetry|analytics|sentry|otlp`)
)

// FailedWork returns the last line in which a program reports that its work failed, or "" if it then retries or succeeds.
func FailedWork(raw []string) string {
	for i, lines := len(raw)-1, linesOf(raw); i >= 0; i-- {
		switch text := lines.at(i).text; {
		case worked.MatchString(text), overcome.MatchString(text), lines.at(i).kind == lineSuccess:
			return ""
		case lines.at(i).kind == lineAlarm && failedWork.MatchString(text) && !harmless.MatchString(text) && !utility.MatchString(text):
			return lines.words(i)
		}
	}
	return ""
}

var (
	// boast matches a line in which a program reports its own success, and overcome an error after which it tries again.
	boast = lazyregexp.New(`^\W*(?:[\w./:-]+ ){0,5}(?i:completed?|finished|done|succeeded|success(?:ful)?)(?: (?i:successfully))?\W*$`)
	// noErrors matches a count of errors that there were none of.
	noErrors = lazyregexp.New(`(?i)\b(?:errors?|failures?)\b["']?(?: \w+)?\s*[:=]\s*0\b`)
	overcome = lazyregexp.New(`(?i)\bretr(?:y|ies|ying)\b|\b(?:try|trying) again\b|\battempt\b`)
)

// warned matches a record with an error, whatever its level.
var warned = lazyregexp.New(`[,{ ]"?err(?:or)?"?[=:] ?"[^"]`)

// nextRun matches what a run leaves to another one.
var nextRun = lazyregexp.New(`(?i)\bnext (?:run|time|backup|schedule)\b`)

// warningAtEnd returns the last line if it is a warning about an error of the work that this run does not overcome, otherwise "".
func (l *logLines) warningAtEnd() string {
	i := len(l.raw) - 1
	if i < 0 || l.at(i).kind != lineMurmur || !warned.MatchString(l.raw[i]) {
		return ""
	}
	if text := l.at(i).text; harmless.MatchString(text) || overcome.MatchString(text) && !nextRun.MatchString(text) {
		return ""
	}
	return l.words(i)
}

// ErrorAtEnd returns the ErrorIn a log after which the program did nothing else, or the error of a warning in its last line; "" if there is
// none. boasts reports whether the program printed a success after it.
func ErrorAtEnd(raw []string) (words string, boasts bool) {
	lines := linesOf(raw)
	if words = lines.warningAtEnd(); words != "" {
		return words, false
	}
	for i := len(raw) - 1; i >= 0 && lines.at(i).kind != lineAlarm; i-- {
		line := lines.at(i)
		isBoast := boast.MatchString(line.text)
		if boasts = boasts || isBoast; !line.indented && (line.kind == lineSuccess || line.sign() == SignNoError && line.kind != lineEmpty && !isBoast) {
			return "", false
		}
	}
	if words = ErrorIn(raw); boasts && (overcome.MatchString(words) || noErrors.MatchString(words)) {
		return "", false
	}
	return words, boasts
}

// changing matches the parts of a line that differ each time: numbers, times and ids.
var changing = lazyregexp.New(`[0-9a-f]*\d[0-9a-f.:-]*`)

// Repeated returns the last error that a log has more than once, without its level: the program keeps trying and failing. It returns "" if
// there is no such error, or if the log goes on with something else.
func Repeated(raw []string) string {
	lines, times := linesOf(raw), map[string]int{}
	isError := func(i int) bool {
		kind := lines.at(i).kind
		return (kind == lineAlarm || kind == lineMurmur) && !lines.at(i).isDetail()
	}
	for i := range raw {
		if isError(i) || lines.at(i).kind == linePlain {
			times[changing.ReplaceAllString(lines.at(i).text, "0")]++
		}
	}
	for i, others := len(raw)-1, 0; i >= 0 && others < maxPlainLines && len(times) > 0; i-- {
		switch line := lines.at(i); {
		case line.kind == lineSuccess:
			return ""
		case (isError(i) || line.kind == linePlain && knownIn(1, raw[i]) != nil) && times[changing.ReplaceAllString(line.text, "0")] > 1:
			text := lines.words(i)
			return strings.TrimLeft(text[len(level.FindString(text)):], " :]")
		case line.kind > lineHint:
			others++
		}
	}
	return ""
}

// Awaited is what a program that runs waits for, as the end of its log says.
type Awaited struct {
	// Line is the line of the log that says so, without its time and level.
	Line string `json:"line"`
	// Resource and Name are the object that it names, and Namespace that of the object; Host is the server that it names. All are "" if the
	// line names none.
	Resource  string `json:"resource,omitempty"`
	Name      string `json:"name,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Host      string `json:"host,omitempty"`
	// OfPods is set if the line is about pods or a workload.
	OfPods bool `json:"ofPods,omitempty"`
}

var (
	// waits matches a line about waiting, waited one about its end, and waitsOn the lines between two attempts. atWork matches what a program
	// waits for that is at work.
	waits   = lazyregexp.New(`(?i)\bwait(?:ing|s)? (?:up to \S+ )?(?:for|until|on|to)\b|^attempting to acquire\b|^acquiring (?:\w+ )?lock\b|\block is held by\b|\b(?:not (?:yet )?(?:ready|available|running|healthy|up)|unavailable)\b.*\b(?:wait|retry|sleep|again|try)`)
	waited  = lazyregexp.New(`(?i)\b(?:done|waited|finished waiting|is ready|are ready|is (?:available|up)|connected|completed?|ok|succeeded|timed out|gave up|giving up)(?: after \d+ ?\w*)?\W*$`)
	waitsOn = lazyregexp.New(`(?i)\b(?:wait|retry|sleep|again|try|attempt)|^\W*$|^[\d\s./:%-]+$`)
	atWork  = lazyregexp.New(`(?i)\bwait(?:ing|s)? (?:for|until|on) (?:(?:all|the|any|new|more|next|\d+) )*(?:messages?|requests?|connections?|tasks?|events?|threads?|workers?|children|child|goroutines?|caches?|jobs? to)\b`)
	// persistent matches a line about what has not happened yet: if the log repeats it, the program is waiting.
	persistent = lazyregexp.New(`(?i)\bstill\b|\bpending\b|\bagain in\b|\bnot yet\b| - no (?:attempt|response)$`) // of pg_isready
	// awaitedObject matches an object in a line: its kind, and its name in quotes, after a slash, or with a hyphen or a digit.
	awaitedObject = lazyregexp.New(`(?i)\b(pod|deployment|statefulset|daemonset|job|service|pvc|persistentvolumeclaim|secret|configmap|crd|node)s?(?:\.[a-z.]+)?(?:/|:? ["'“‘]?)([a-z0-9][a-z0-9.]*-[a-z0-9.-]*[a-z0-9]|(?:["'“‘/])[a-z0-9.]+)`)
	awaitedPlace  = lazyregexp.New(`(?i)(?: -n |\bnamespace(?:[=:]|[ =:]["'“‘]| (?:of )?))([a-z0-9][a-z0-9-]*)(?:["'”’,.)]|\s*$)`)
	awaitedHost   = lazyregexp.New(`\b(?:https?|tcp|amqp|redis|postgres(?:ql)?|mysql|mongodb)://(?:[^@/\s]*@)?([a-z][\w-]*(?:\.[\w-]+)*(?::\d+)?)|\b([a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*:\d{2,5})\b|\b([a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*\.svc(?:\.[a-z0-9.-]*[a-z0-9])?)\b`)
	ofPods        = lazyregexp.New(`(?i)\b(?:pods?|replicas?|rollout|deployments?|statefulsets?|daemonsets?|containers?)\b`)
)

// AwaitedIn returns what a program waits for whose log ends with these lines, nil if they do not say that it waits, or not for what.
func AwaitedIn(raw []string) *Awaited {
	lines := linesOf(raw)
	for i := len(raw) - 1; i >= 0; i-- {
		text := lines.at(i).text
		switch {
		case waited.MatchString(text), atWork.MatchString(text):
			return nil
		case waits.MatchString(text), persistent.MatchString(text) && lines.repeats(i):
			return awaitedOf(lines.words(i))
		case !waitsOn.MatchString(text):
			return nil
		}
	}
	return nil
}

// repeats reports whether the two lines before the one at a position say the same.
func (l *logLines) repeats(i int) bool {
	same := func(n int) bool {
		return changing.ReplaceAllString(l.at(n).text, "0") == changing.ReplaceAllString(l.at(i).text, "0")
	}
	return i > 1 && same(i-1) && same(i-2)
}

func awaitedOf(line string) *Awaited {
	a := &Awaited{Line: strings.TrimLeft(line[len(level.FindString(line)):], " :]")}
	if m := awaitedObject.FindStringSubmatch(a.Line); m != nil {
		a.Resource, a.Name, a.Namespace = strings.ToLower(m[1]), strings.Trim(m[2], `"'“‘/`), awaitedPlace.Group(a.Line)
	}
	if m := awaitedHost.FindStringSubmatch(a.Line); m != nil {
		if host := m[1+slices.IndexFunc(m[1:], func(part string) bool { return part != "" })]; !sourceLine.MatchString(host) && !strings.HasSuffix(line, "no attempt") {
			a.Host = host
		}
	}
	a.OfPods = ofPods.MatchString(a.Line)
	return a
}
