package laws_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/world/laws"
)

// replaced changes the printed forms and the sentence of an answer.
func replaced(pattern, by string) func(*laws.Answer) {
	re := regexp.MustCompile(pattern)
	return func(a *laws.Answer) {
		for _, s := range []*string{&a.Short, &a.Full, &a.Report.Verdict.Sentence} {
			*s = re.ReplaceAllString(*s, by)
		}
		for i := range a.Report.Advice {
			a.Report.Advice[i].Command = re.ReplaceAllString(a.Report.Advice[i].Command, by)
		}
	}
}

func added(text string) func(*laws.Answer) {
	return func(a *laws.Answer) { a.Short += text }
}

// lies are changes of true answers about a cause, each with the law that notices it.
var lies = []struct {
	name, cause, law string
	lie              func(*laws.Answer)
}{
	{"the exit code is swallowed", "exit", "the first three lines have the facts of the cause", replaced(`code \d+`, "an error")},
	{"the memory limit is left out", "OOM", "the first three lines have the facts of the cause", replaced(`128Mi|2Gi`, "its limit")},
	{"another namespace", "exit", "a command is about the objects of the Job, in its namespace", replaced(`-n \S+`, "-n default")},
	{"no namespace", "exit", "a command is about the objects of the Job, in its namespace", replaced(` -n \S+`, "")},
	{"the log of a pod that never was", "exit", "a command is about the objects of the Job, in its namespace", replaced(`kubectl logs \S+`, "kubectl logs train-zzzzz")},
	{"a pod that exists is gone", "exit", "what exists is not called gone", func(a *laws.Answer) { a.Full += a.Input.Pods[0].Name + " no longer exists" }},
	{"more pods are gone than are", "exit", "what exists is not called gone", added("7 failed pods are gone, and nothing recorded why they failed")},
	{"the controller is dead", "runs", "nobody is called dead who has just shown life", added("The built-in controller does not seem to be running")},
	{"a message is cut before its reason", "webhook", "a message with an unknown meaning is quoted at its end", replaced(`(denies them: .{10}).*`, "$1…")},
	{"the numbers of the quota are dropped", "quota", "the numbers of a refusal are in the answer", replaced(`requests.cpu=\d+`, "requests.cpu")},
	{"advice without content", "refusal", "advice has content", added("Fix  Resolve what the message names")},
	{"retries that were not used", "runs", "a limit says how much of it is used", replaced(`0 of (\d+) (retries|retry) used`, "1 of $1 $2 used")},
	{"the Job fails later than it does", "runs", "a limit says how much of it is used", func(a *laws.Answer) { a.Full += "0 failures; the Job fails at 7" }},
	{"a sentence of two lines", "runs", "the first sentence has at most 160 characters", func(a *laws.Answer) { a.Report.Verdict.Sentence += strings.Repeat(" again", 27) }},
	{"a sentence says it twice", "exit", "nothing in the first sentence is said twice", func(a *laws.Answer) {
		a.Report.Verdict.Sentence = "Container main exited with code 1, and container main exited with code 1; " + a.Report.Verdict.Sentence
	}},
}

// Each lie breaks its law, which the truth does not.
func TestEveryLieIsCaughtByItsLaw(t *testing.T) {
	t.Parallel()
	for _, l := range lies {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			seed := uint64(0)
			for laws.NewWorld(seed).Cause != l.cause {
				seed++
			}
			a := ask(t, laws.NewWorld(seed))
			if why := broken(t, l.law, &a); why != "" {
				t.Fatalf("the truth breaks the law: %s", why)
			}
			l.lie(&a)
			if broken(t, l.law, &a) == "" {
				t.Errorf("nothing is noticed in\n%s", a.Short)
			}
		})
	}
}

func broken(t *testing.T, law string, a *laws.Answer) string {
	t.Helper()
	for _, l := range laws.All {
		if l.Name == law {
			return l.Broken(a)
		}
	}
	t.Fatalf("there is no law %q", law)
	return ""
}

// An answer that flips between two looks is noticed.
func TestAnAnswerThatFlipsIsNoticed(t *testing.T) {
	t.Parallel()
	w := laws.NewWorld(0)
	for seed := uint64(1); w.Cause != "runs"; seed++ {
		w = laws.NewWorld(seed)
	}
	before := ask(t, w)
	w.Now = w.Now.Add(time.Second)
	after := ask(t, w)
	if why := laws.Steady(&before, &after); why != "" {
		t.Fatal(why)
	}
	after.Report.Verdict.Stalled = true
	if laws.Steady(&before, &after) == "" {
		t.Error("a stalled Job is like one that runs")
	}
}
