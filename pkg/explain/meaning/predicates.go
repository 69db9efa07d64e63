package meaning

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

// predicateNames are names of reasons in messages of kube-scheduler before 1.10 and of schedulers that are built on it, with the words that
// kube-scheduler has for them today; the patterns of other reasons match their names.
var predicateNames = map[string]string{
	"MatchInterPodAffinity":                 "node(s) didn't match pod affinity/anti-affinity",
	"ExistingPodsAntiAffinityRulesNotMatch": "node(s) didn't satisfy existing pods anti-affinity rules",
}

// countedAfter matches a reason of these schedulers, whose number of nodes follows: MatchNodeSelector (1).
var countedAfter = lazyregexp.New(`^(.+) \((\d+)\)$`)

// ofPredicates matches the list in a message of these schedulers, after its beginning.
var ofPredicates = lazyregexp.New(`^(.*: ?)[^:(]+ \(\d+\)(?:, [^:(]+ \(\d+\))*\.?$|^(.*\bnodes are unavailable: )\d`)

// nameOf matches the name of a predicate, and inName its words.
var (
	nameOf = lazyregexp.New(`^[A-Z][a-z]+(?:[A-Z]+[a-z]*)+$`)
	inName = lazyregexp.New(`([a-z])([A-Z])`)
)

// ofPlugin matches what Volcano puts before a reason.
var ofPlugin = lazyregexp.New(`plugin \S+ predicates failed `)

// inTodaysFormat returns a message of these schedulers with its list in kube-scheduler's format, and other messages as they are.
func inTodaysFormat(message string) string {
	message = ofPlugin.ReplaceAllString(message, "")
	prefix := ofPredicates.Group(message)
	if prefix == "" {
		return message
	}
	list := strings.Split(strings.TrimRight(message[len(prefix):], "."), ", ")
	for i, reason := range list {
		list[i] = countedAfter.ReplaceAllString(reason, "$2 $1")
	}
	return noneOf + strings.Join(list, ", ")
}

// available is the beginning of the list of reasons in kube-scheduler's message (framework.FitError).
var available = lazyregexp.New(`^(?:.* Origin reason is \S+: )?\d+/(\d+) nodes are (?:un)?available: `)

// helpless matches the number of nodes on which no other pods could make room, at the end of the message.
var helpless = lazyregexp.New(`(\d+) Preemption is not helpful for scheduling`)

// noneOf is the beginning of the message, for reasons that stand alone.
const noneOf = "0/0 nodes are available: "

// counted matches a reason with the number of nodes for which it holds.
var counted = lazyregexp.New(`^(\d+) (.+)$`)

// afterReasons are the beginnings of kube-scheduler's text about preemption, and about the resource claims that it could
// free.
var afterReasons = []string{". still not schedulable", ". preemption: ", " preemption: ", ", preemption: ", ". no new claims to deallocate", " no new claims to deallocate"}

// UnfitsOf parses the reasons why no node can take a pod from the scheduler's message (condition PodScheduled or event
// FailedScheduling), in the order of the message. A text in an unknown format is one reason of the kind Other.
func UnfitsOf(message string) []Unfit {
	message = inTodaysFormat(strings.Join(strings.Fields(message), " "))
	if message == "" {
		return nil
	}
	prefix := available.FindString(message)
	list := message[len(prefix):]
	for _, after := range afterReasons {
		list, _, _ = strings.Cut(list, after)
	}
	list = strings.TrimRight(list, " .")
	// A reason may contain commas: "1 node(s) had taint {a: b}, that the pod didn't tolerate".
	var reasons []string
	for part := range strings.SplitSeq(list, ", ") {
		if last := len(reasons) - 1; last >= 0 && (prefix == "" || !counted.MatchString(part)) {
			reasons[last] += ", " + part
			continue
		}
		reasons = append(reasons, part)
	}
	var out []Unfit
	of := available.Group(message)
	nodes, _ := strconv.ParseInt(of, 10, 32)
	for _, reason := range reasons {
		u := unfitOf(reason)
		u.Of, u.IsHelpless = int32(nodes), nodes > 0 && helpless.Group(message) == of
		if same := lists.First(out, func(o *Unfit) bool { return o.Kind == UnfitVolumeNode && u.Kind == o.Kind }); same != nil {
			same.Nodes += u.Nodes // Two filters look at the zone of a volume.
			continue
		}
		out = append(out, u)
	}
	return out
}

func unfitOf(reason string) Unfit {
	u := Unfit{Kind: UnfitOther, Message: reason}
	if m := counted.FindStringSubmatch(reason); m != nil {
		if n, err := strconv.ParseInt(m[1], 10, 32); err == nil {
			u.Nodes, u.Message = int32(n), m[2]
		}
	}
	message := cmp.Or(predicateNames[u.Message], u.Message)
	if nameOf.MatchString(message) {
		message = strings.ToLower(inName.ReplaceAllString(message, "$1 $2"))
	}
	if found := first(unfits, func(r *unfitRow) bool { return r.matches(message) }, func(r, other *unfitRow) bool { return slices.Contains(r.yieldsTo, other.kind) }); found != nil {
		u.Kind = found.kind
		for _, pattern := range found.patterns {
			if m := pattern.FindStringSubmatch(message); len(m) > 1 {
				u.Name = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(m[1]), ":"))
				break
			}
		}
	}
	return u
}
