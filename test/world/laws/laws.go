package laws

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
)

// Answer is an explanation in all forms.
type Answer struct {
	Input  input.Input
	Report explain.Report
	// Short and Full are the printed forms, with lines of any length. Full includes what status NAME prints.
	Short, Full string
	JSON        string
	// Truth is nil for a recording.
	Truth *Truth
}

// Ask explains an input.
func Ask(in input.Input, truth *Truth) (Answer, error) {
	a := Answer{Input: in, Report: analysis.Explain(in, explain.Options{}), Truth: truth}
	var short, full bytes.Buffer
	if err := text.Short(&short, a.Report, text.Options{}); err != nil {
		return a, err
	}
	if err := text.Summary(&full, a.Report, text.Options{Full: true}); err != nil {
		return a, err
	}
	if err := text.Explanation(&full, a.Report, text.Options{Full: true}); err != nil {
		return a, err
	}
	data, err := json.Marshal(a.Report)
	a.Short, a.Full, a.JSON = short.String(), full.String(), string(data)
	return a, err
}

// lines returns the lines of the short answer that have text.
func (a *Answer) lines() []string {
	return slices.DeleteFunc(strings.Split(a.Short, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
}

// Law is a statement about every answer.
type Law struct {
	Name string
	// Broken describes what breaks the law, "" if nothing does.
	Broken func(a *Answer) string
}

// All are the laws about one answer.
var All = []Law{
	{"the first three lines have the facts of the cause", firstLinesHaveTheFacts},
	{"what exists is not called gone", nothingThatExistsIsGone},
	{"nobody is called dead who has just shown life", nobodyAliveIsDead},
	{"a message with an unknown meaning is quoted at its end", unknownMessagesAreQuoted},
	{"advice has content", adviceHasContent},
	{"the numbers of a refusal are in the answer", numbersAreThere},
	{"a command is about the objects of the Job, in its namespace", commandsAreAboutTheJob},
	{"a limit says how much of it is used", limitsAreTrue},
	{"the first sentence has at most 160 characters", firstSentenceIsShort},
	{"nothing in the first sentence is said twice", nothingRepeats},
}

func squeeze(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

func firstLinesHaveTheFacts(a *Answer) string {
	if a.Truth == nil {
		return ""
	}
	all := a.lines()
	head := squeeze(strings.Join(all[:min(3, len(all))], " "))
	for _, fact := range a.Truth.First {
		if !strings.Contains(head, squeeze(fact)) {
			return fmt.Sprintf("%q is not in the first three lines", fact)
		}
	}
	return ""
}

var goneFailures = regexp.MustCompile(`(\d+) (other )?failed pods? (is|are) gone`)

func nothingThatExistsIsGone(a *Answer) string {
	for _, p := range a.Input.Pods {
		called := regexp.MustCompile(regexp.QuoteMeta(p.Name) + `( \([^)]*\))? (is gone|no longer exists|does not exist)`)
		if found := called.FindString(a.Full + a.Short); found != "" {
			return found
		}
	}
	if found := goneFailures.FindStringSubmatch(a.Full + a.Short); found != nil && found[1] != fmt.Sprint(a.Report.FailuresWithoutPod) {
		return fmt.Sprintf("%s, and there are %d", found[0], a.Report.FailuresWithoutPod)
	}
	return ""
}

var dead = regexp.MustCompile(`(controller|kubelet|autoscaler)[^.;:(\n]*(does not seem to be running|is not running|has stopped)`)

// nobodyAliveIsDead: a held Lease, a status that was written after each pod's end, and uncounted pods are signs of life.
func nobodyAliveIsDead(a *Answer) string {
	output := dead.FindString(a.Full + a.Short)
	if output == "" {
		return ""
	}
	if l := a.Input.Lease; l != nil && l.IsHeld(a.Input.Now) && l.Elsewhere == nil {
		return output + ", and its Lease is held"
	}
	if u := a.Input.Job.Status.UncountedTerminatedPods; u != nil && len(u.Succeeded)+len(u.Failed) == len(a.Input.Pods) && len(a.Input.Pods) > 0 {
		return output + ", and its status has all pods that ended"
	}
	written := lastWritten(a.Input.Job)
	if written.IsZero() {
		return ""
	}
	for _, p := range a.Input.Pods {
		if p.IsTerminal() && !p.FinishedAt.Before(written) {
			return ""
		}
	}
	if len(a.Input.Pods) > 0 && a.Input.Now.Sub(written) < time.Minute {
		return output + ", and it wrote the status after the last pod had ended"
	}
	return ""
}

// lastWritten returns the time of the last change of the Job's status.
func lastWritten(job *batchv1.Job) time.Time {
	var written time.Time
	for _, f := range job.ManagedFields {
		if f.Subresource == "status" && f.Time != nil && f.Time.After(written) {
			written = f.Time.Time
		}
	}
	return written
}

func unknownMessagesAreQuoted(a *Answer) string {
	if a.Truth == nil || a.Truth.Quoted == "" || strings.Contains(squeeze(a.Short), squeeze(a.Truth.Quoted)) {
		return ""
	}
	return fmt.Sprintf("%q is not quoted", a.Truth.Quoted)
}

var empty = regexp.MustCompile(`(?i)what the message names|find out why (in|it|the pod)\b|find out why container \S+ exits`)

func adviceHasContent(a *Answer) string { return empty.FindString(a.Short + a.Full) }

func numbersAreThere(a *Answer) string {
	if a.Truth == nil {
		return ""
	}
	for _, n := range a.Truth.Numbers {
		if !strings.Contains(squeeze(a.Short), squeeze(n)) {
			return n + " is not in the short answer"
		}
	}
	return ""
}

// clusterScoped are words of commands about objects without a namespace.
var clusterScoped = regexp.MustCompile(`kube-system|\b(clusterroles?|clusterrolebindings?|nodes?|namespaces?|(securitycontext)?constraints|podsecuritypolic\w+|clusterpolic\w+|storageclass(es)?|priorityclass(es)?|runtimeclass(es)?|csidrivers?|csinodes?|validatingadmissionpolic\w+|validatingwebhookconfigurations?|mutatingwebhookconfigurations?|clusterqueues?|nodepools?|pv|persistentvolumes?|-A|--all-namespaces)\b|-A\b`)

var namespaceFlag = regexp.MustCompile(` (?:-n|--namespace)[ =]('[^']*'|\S+)`)

// Commands returns the commands of an answer's advice and of its printed lines.
func (a *Answer) Commands() []string {
	var all []string
	for i := range a.Report.Advice {
		if c := a.Report.Advice[i].Command; c != "" {
			all = append(all, c)
		}
	}
	for line := range strings.Lines(a.Short + a.Full) {
		if _, command, found := strings.Cut(line, "$ kubectl "); found {
			all = append(all, strings.TrimSpace("kubectl "+command))
		}
	}
	return all
}

func commandsAreAboutTheJob(a *Answer) string {
	for _, c := range a.Commands() {
		if !strings.HasPrefix(c, "kubectl ") {
			return c
		}
		in := namespaceFlag.FindAllStringSubmatch(c, -1)
		if len(in) == 0 && !clusterScoped.MatchString(c) {
			return c + " has no namespace"
		}
		for _, n := range in {
			if name := strings.Trim(n[1], "'"); name != a.Input.Job.Namespace && name != "kube-system" && name != "kueue-system" && !strings.Contains(messages(a), name) {
				return fmt.Sprintf("%s is not in the namespace %s", c, a.Input.Job.Namespace)
			}
		}
		if isOfNoPod(c, a.Input.Pods) {
			return c + ": there is no such pod"
		}
	}
	one := a.Input.Job.Spec.Completions
	if found := raises.FindString(a.Short + a.Full); found != "" && one != nil && *one == 1 {
		return found + " of a Job of one pod"
	}
	return ""
}

// isOfNoPod reports whether a command shows the log of a pod that does not exist.
func isOfNoPod(command string, pods []*input.Pod) bool {
	of, found := strings.CutPrefix(command, "kubectl logs ")
	if !found || strings.HasPrefix(of, "deployment/") || strings.HasPrefix(of, "job") || strings.HasPrefix(of, "-") {
		return false
	}
	return !slices.ContainsFunc(pods, func(p *input.Pod) bool { return p.Name == strings.Fields(of)[0] })
}

var raises = regexp.MustCompile(`(?i)(raise|increase|lower|reduce) (its |the |spec\.)?parallelism`)

// messages returns the text that the cluster wrote about the Job, in which another namespace may be named.
func messages(a *Answer) string {
	var b strings.Builder
	for i := range a.Input.Events {
		b.WriteString(a.Input.Events[i].Message + "\n")
	}
	for _, p := range a.Input.Pods {
		b.WriteString(p.Message + "\n" + p.Unschedulable + "\n")
		for _, c := range p.Containers {
			b.WriteString(c.WaitingMessage + "\n" + c.Message + "\n")
		}
	}
	return b.String()
}

var usedRetries = regexp.MustCompile(`(\d+) of (\d+) (?:retries|retry) used`)

func limitsAreTrue(a *Answer) string {
	if found := strings.Index(a.Full, "the Job fails at"); found >= 0 {
		return "the Job fails at …"
	}
	if a.Truth == nil || a.Truth.Retries == nil {
		return ""
	}
	if a.Truth.Retries[1] == 0 {
		return "" // It says that none are allowed.
	}
	want := fmt.Sprintf("%d of %d", a.Truth.Retries[0], a.Truth.Retries[1])
	found := usedRetries.FindStringSubmatch(a.Full)
	if found == nil {
		return "no line says how many retries are used"
	}
	if got := found[1] + " of " + found[2]; got != want {
		return got + " instead of " + want
	}
	return ""
}

// mostCharacters is the length of a first sentence that can be read at one look.
const mostCharacters = 160

var nextSentence = regexp.MustCompile(`[.…] ([A-Z“]|backoffLimit|\d+ (pods?|index(es)?|restarts?|failures?) )`)

func firstSentence(text string) string {
	if end := nextSentence.FindStringIndex(text); end != nil {
		return text[:end[0]+1]
	}
	return text
}

// firstSentences returns the sentence of status, and that of the short answer.
func (a *Answer) firstSentences() []string {
	all := []string{firstSentence(a.Report.Verdict.Sentence)}
	if lines := a.lines(); len(lines) > 1 && strings.HasPrefix(lines[1], "  ") && !strings.Contains(strings.TrimSpace(lines[1]), "  ") {
		all = append(all, firstSentence(strings.TrimSpace(lines[1])))
	}
	return all
}

func firstSentenceIsShort(a *Answer) string {
	for _, s := range a.firstSentences() {
		if n := utf8.RuneCountInString(s); n > mostCharacters {
			return fmt.Sprintf("%d characters: %s", n, s)
		}
	}
	return ""
}

// nothingRepeats looks for sequences of five words.
func nothingRepeats(a *Answer) string {
	const words = 5
	for _, s := range a.firstSentences() {
		all, seen := strings.Fields(strings.ToLower(s)), map[string]bool{}
		for i := range max(0, len(all)-words+1) {
			part := strings.Join(all[i:i+words], " ")
			if seen[part] {
				return fmt.Sprintf("%q in %s", part, s)
			}
			seen[part] = true
		}
	}
	return ""
}

var numbers = regexp.MustCompile(`\d+(\.\d+)?`)

// Steady describes how two answers differ that are given at most seconds apart, while nothing decisive happens; "" if only
// numbers do.
func Steady(before, after *Answer) string {
	kind := func(a *Answer) string {
		v := &a.Report.Verdict
		problem := ""
		if v.Problem != nil {
			problem = string(a.Report.Problems[*v.Problem].Kind)
		}
		return fmt.Sprintf("%s %v %q: %s", v.Outcome, v.Stalled, problem, numbers.ReplaceAllString(v.Sentence, "N"))
	}
	if b, c := kind(before), kind(after); b != c {
		return fmt.Sprintf("before: %s\nafter:  %s", b, c)
	}
	return ""
}
