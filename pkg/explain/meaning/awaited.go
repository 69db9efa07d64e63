package meaning

import (
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

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
	waits   = lazyregexp.New(`(?i)\bwait(?:ing|s)? (?:for|until|on|to acquire|up to \S+ for)\b|^attempting to acquire\b|^acquiring (?:\w+ )?lock\b|\block is held by\b|\b(?:not (?:yet )?(?:ready|available|running|healthy|up)|unavailable)\b.*\b(?:wait|retry|sleep|again|try)`)
	waited  = lazyregexp.New(`(?i)\b(?:done|waited|finished waiting|is ready|are ready|is (?:available|up)|connected|completed?|ok|succeeded|timed out|gave up|giving up)(?: after \d+ ?\w*)?\W*$`)
	waitsOn = lazyregexp.New(`(?i)\b(?:wait|retry|sleep|again|try|attempt)|^\W*$|^[\d\s./:%-]+$`)
	atWork  = lazyregexp.New(`(?i)\bwait(?:ing|s)? (?:for|until|on) (?:(?:all|the|any|new|more|next|\d+) )*(?:messages?|requests?|connections?|tasks?|events?|threads?|workers?|children|child|goroutines?|caches?|jobs? to)\b`)
	// persistent matches a line about what has not happened yet: if the log repeats it, the program is waiting.
	persistent = lazyregexp.New(`(?i)\bstill\b|\bpending\b|\bagain in\b|\bnot yet\b`)
	// scriptName is the name of a script about waiting, before its message.
	scriptName = lazyregexp.New(`^[\w./-]*wait[\w.-]*: `)
	// awaitedObject matches an object in a line: its kind, and its name in quotes, after a slash, or with a hyphen or a digit.
	awaitedObject = lazyregexp.New(`(?i)\b(pod|deployment|statefulset|daemonset|job|service|pvc|persistentvolumeclaim|secret|configmap|crd|node)s?(?:\.[a-z.]+)?(?:/|:? ["'“‘]?)([a-z0-9][a-z0-9.]*-[a-z0-9.-]*[a-z0-9]|(?:["'“‘/])[a-z0-9.]+)`)
	awaitedPlace  = lazyregexp.New(`(?i)(?: -n |\bnamespace(?:[=:]|[ =:]["'“‘]| (?:of )?))([a-z0-9][a-z0-9-]*)(?:["'”’,.)]|\s*$)`)
	awaitedHost   = lazyregexp.New(`\b(?:https?|tcp|amqp|redis|postgres(?:ql)?|mysql|mongodb)://(?:[^@/\s]*@)?([a-z][\w-]*(?:\.[\w-]+)*(?::\d+)?)|\b([a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*:\d{2,5})\b|\b([a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*\.svc(?:\.[a-z0-9.-]*[a-z0-9])?)\b`)
	// option matches a name with a number, which looks like a host with a port.
	option = lazyregexp.New(`(?i)^(?:timeout|retr(?:y|ies)|attempts?|line|port|pid|code|interval|delay|max|count):`)
	ofPods = lazyregexp.New(`(?i)\b(?:pods?|replicas?|rollout|deployments?|statefulsets?|daemonsets?|containers?)\b`)
)

// AwaitedIn returns what a program waits for whose log ends with these lines, nil if they do not say that it waits, or not for what.
func AwaitedIn(raw []string) *Awaited {
	lines := linesOf(raw)
	for i := len(raw) - 1; i >= 0; i-- {
		text := lines.at(i).text
		text = text[len(scriptName.FindString(text)):]
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
		if host := m[1+slices.IndexFunc(m[1:], func(part string) bool { return part != "" })]; !sourceLine.MatchString(host) && !option.MatchString(host) {
			a.Host = host
		}
	}
	a.OfPods = ofPods.MatchString(a.Line)
	return a
}
