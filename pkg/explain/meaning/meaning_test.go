package meaning

import (
	"slices"
	"strings"
	"testing"
)

func troubleOf(t *Trouble) Trouble {
	if t == nil {
		return Trouble{}
	}
	return *t
}

func TestEveryKindHasARowWithAllOfItsColumns(t *testing.T) {
	seen := map[TroubleKind]bool{}
	for n, rows := range subjects {
		for i := range rows {
			r := &rows[i]
			hasBrief := r.brief != "" || n == len(subjects)-1 // The column of a refused pod names the webhook.
			if r.kind == "" || seen[r.kind] || !hasBrief || r.text == "" || r.advice == "" || r.patterns == nil && i < len(rows)-1 {
				t.Errorf("%+v", r)
			}
			seen[r.kind] = true
			for _, kind := range r.yieldsTo {
				if other := rowOf(kind); other.kind == "" || other.kind == r.kind {
					t.Errorf("%s yields to %q", r.kind, kind)
				}
			}
		}
	}
}

// A text says everything that its template promises, for any Trouble.
func TestTemplatesAreFilled(t *testing.T) {
	for _, rows := range subjects {
		for _, r := range rows {
			for _, trouble := range []Trouble{{Kind: r.kind}, {Kind: r.kind, Object: "Secret", Name: "s", Key: "k", Volume: "v", Said: "no"}} {
				for _, text := range []string{trouble.Brief(), trouble.Text("its volume v"), trouble.Advice("its volume v")} {
					if strings.ContainsAny(text, "{}%") {
						t.Errorf("%s: %q", r.kind, text)
					}
				}
			}
		}
	}
}

// matching returns the rows that match the message and yield to no other row that does.
func matching(rows []row, message string) []*row {
	var all []*row
	for i := range rows {
		if _, m := rows[i].match(message); m != nil {
			all = append(all, &rows[i])
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(r *row) bool {
		return slices.ContainsFunc(all, func(other *row) bool { return slices.Contains(r.yieldsTo, other.kind) })
	})
}

// The order of the rows must not decide what a message means.
func TestNoRealMessageMatchesTwoRows(t *testing.T) {
	check := func(name string, rows []row, message string) {
		t.Helper()
		if best := matching(rows, strings.Join(strings.Fields(message), " ")); len(best) > 1 {
			t.Errorf("%s: %q is both %s and %s: one has to yield to the other", name, message, best[0].kind, best[1].kind)
		}
	}
	for name, c := range imageCases() {
		check(name, images, imageError(c.message))
	}
	for name, c := range volumeCases() {
		check(name, volumes, c.message)
	}
	for name, c := range sandboxCases() {
		check(name, sandboxes, c.message)
	}
	for message := range webhookCases() {
		check("webhook", webhooks, message)
	}
}

// Requirements: PND-03, PND-04
func FuzzTroubles(f *testing.F) {
	f.Add("FailedMount", `MountVolume.SetUp failed for volume "key" : secret "google-cloud-key" not found`)
	f.Add("ErrImagePull", `Failed to pull image "x": toomanyrequests`)
	f.Fuzz(func(t *testing.T, reason, message string) {
		for _, trouble := range []*Trouble{OfImage(reason, message), OfStart(reason, message), OfWebhook(message)} {
			if x := troubleOf(trouble); trouble != nil && (x.Kind == "" || len(x.Name)+len(x.Key)+len(x.Volume)+len(x.Said) > 4*len(message)) {
				t.Errorf("%q: %q: %+v", reason, message, x)
			}
		}
	})
}
