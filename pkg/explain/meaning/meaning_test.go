package meaning

import (
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

func troubleOf(t *Trouble) Trouble {
	if t == nil {
		return Trouble{}
	}
	return *t
}

// checkRows checks that each kind has one row, with all of its columns, and that rows yield to others only.
func checkRows[K ~string](t *testing.T, rows []row[K], seen map[K]bool, hasColumn bool) {
	t.Helper()
	for i := range rows {
		r := &rows[i]
		if r.kind == "" || seen[r.kind] || r.brief == "" && hasColumn || r.text == "" || r.advice == "" {
			t.Errorf("%+v", r)
		}
		seen[r.kind] = true
		for _, kind := range r.yieldsTo {
			if kind == r.kind || rowIn(rows, kind).kind == "" {
				t.Errorf("%s yields to %q", r.kind, kind)
			}
		}
	}
}

func TestEveryKindHasARowWithAllOfItsColumns(t *testing.T) {
	seen := map[TroubleKind]bool{}
	for n, rows := range subjects {
		checkRows(t, rows, seen, n < len(subjects)-1) // The column of a refused pod names the webhook.
		for i := range rows[:len(rows)-1] {
			if rows[i].patterns == nil {
				t.Errorf("%s has no patterns", rows[i].kind)
			}
		}
	}
	checkRows(t, refusals, map[RefusalKind]bool{}, true)
}

// A text says everything that its template promises, for any Trouble.
func TestTemplatesAreFilled(t *testing.T) {
	forJob := lazyregexp.New(`\{recreate\}|\{\?[^{}]*\}`) // What package words fills in for the Job.
	check := func(kind string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if strings.ContainsAny(forJob.ReplaceAllString(text, ""), "{}%") {
				t.Errorf("%s: %q", kind, text)
			}
		}
	}
	for _, rows := range subjects {
		for _, r := range rows {
			for _, trouble := range []Trouble{{Kind: r.kind}, {Kind: r.kind, Object: "Secret", Name: "s", Key: "k", Volume: "v", Detail: "no"}} {
				check(string(r.kind), trouble.Brief(), trouble.Text("its volume v"), trouble.Advice("its volume v"))
			}
		}
	}
	for _, r := range refusals {
		refusal := Refusal{Kind: r.kind, By: "x", Message: "no", Lacks: []string{"limits.cpu"}}
		advice, command := refusal.Advice("ns")
		check(string(r.kind), refusal.Brief(), refusal.Text(), advice, command)
	}
}

// matching returns the rows that match the message and yield to no other row that does.
func matching[K ~string](rows []row[K], message string) []*row[K] {
	var all []*row[K]
	for i := range rows {
		if rows[i].matches(message) {
			all = append(all, &rows[i])
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(r *row[K]) bool { return slices.ContainsFunc(all, r.yields) })
}

// The order of the rows must not decide what a message means.
func TestNoRealMessageMatchesTwoRows(t *testing.T) {
	for name, c := range volumeCases() {
		checkOneMatch(t, name, slices.Concat(volumes, nodeLimits), c.message)
	}
	for name, c := range sandboxCases() {
		checkOneMatch(t, name, slices.Concat(sandboxes, nodeLimits), c.message)
	}
	for message := range webhookCases() {
		checkOneMatch(t, "webhook", webhooks, message)
	}
	for message := range refusalCases() {
		checkOneMatch(t, "refusal", refusals, message[len(wrappers.FindString(message)):])
	}
}

func checkOneMatch[K ~string](t *testing.T, name string, rows []row[K], message string) {
	t.Helper()
	if best := matching(rows, strings.Join(strings.Fields(message), " ")); len(best) > 1 {
		t.Errorf("%s: %q is both %s and %s: one has to yield to the other", name, message, best[0].kind, best[1].kind)
	}
}

// Requirements: PND-03, PND-04
func FuzzTroubles(f *testing.F) {
	f.Add("FailedMount", `MountVolume.SetUp failed for volume "key" : secret "google-cloud-key" not found`)
	f.Add("ErrImagePull", `Failed to pull image "x": toomanyrequests`)
	f.Fuzz(func(t *testing.T, reason, message string) {
		for _, trouble := range []*Trouble{OfImage(reason, message), OfStart(reason, message), OfWebhook(message)} {
			if x := troubleOf(trouble); trouble != nil && (x.Kind == "" || len(x.Name)+len(x.Key)+len(x.Volume)+len(x.Detail) > 4*len(message)) {
				t.Errorf("%q: %q: %+v", reason, message, x)
			}
		}
	})
}
