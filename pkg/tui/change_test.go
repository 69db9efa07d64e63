package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// fakeChanger records the changes of Jobs.
type fakeChanger struct {
	forbidden bool
	err       error
	applied   []string
}

func (f *fakeChanger) IsAllowed(context.Context, screen.Change, string) bool { return !f.forbidden }

func (f *fakeChanger) Apply(_ context.Context, change screen.Change, job types.NamespacedName, uid string) error {
	name := map[screen.Change]string{screen.Suspend: "suspend", screen.Resume: "resume", screen.Delete: "delete"}[change]
	f.applied = append(f.applied, fmt.Sprintf("%s %s/%s %s", name, job.Namespace, job.Name, uid))
	return f.err
}

// changing opens the list of Jobs with the cursor on the named Job.
func changing(t *testing.T, f *fakeChanger, name string) *testbed {
	t.Helper()
	items := someJobs()
	for i := range items {
		items[i].UID = "uid-" + items[i].Name
	}
	at := slices.IndexFunc(items, func(o explain.Outline) bool { return o.Name == name })
	b := open(t, jobsSnapshot(items...), size{80, 24}, func(o *Options) {
		allNamespaces(o)
		o.Changer, o.Select = f, types.NamespacedName{Namespace: items[at].Namespace, Name: name}
	})
	b.View()
	return b
}

// Z and ctrl+d change the Job under the cursor, identified by its UID, after a confirmation.
// Requirements: VIE-09
func TestJobIsChangedOnceThatIsConfirmed(t *testing.T) {
	for _, tc := range []struct{ name, key, want, notice string }{
		{"validate", "Z", "suspend ml/validate uid-validate", "job validate suspended"},
		{"queue-worker", "Z", "resume etl/queue-worker uid-queue-worker", "job queue-worker resumed"},
		{"evaluate", "ctrl+d", "delete ml/evaluate uid-evaluate", "job evaluate deleted"},
	} {
		for _, refuse := range []string{"n", "N", "enter", "esc", "q"} {
			f := &fakeChanger{}
			b := changing(t, f, tc.name)
			b.keys(tc.key)
			shows(b, tc.name+"? y/N")
			b.keys(refuse)
			shows(b, "7 Jobs")
			if f.applied != nil {
				t.Errorf("%s %s: it did %q", tc.key, refuse, f.applied)
			}
		}
		f := &fakeChanger{}
		b := changing(t, f, tc.name)
		b.keys(tc.key)
		golden(t, "change."+tc.want[:6], b.picture())
		checkFrame(t, b, size{80, 24})
		b.keys("y")
		shows(b, "7 Jobs", tc.notice)
		assert.SlicesEqual(t, f.applied, []string{tc.want}, "it did")
	}
}

// A change that is not possible is not offered, and an error stays on the form.
// Requirements: VIE-09
func TestJobThatCannotBeChanged(t *testing.T) {
	b := changing(t, &fakeChanger{}, "evaluate")
	b.keys("Z")
	shows(b, "a Job that has finished cannot be suspended", "7 Jobs")
	f := &fakeChanger{forbidden: true}
	b = changing(t, f, "validate")
	b.keys("ctrl+d")
	shows(b, "You have no permission to do this in namespace ml")
	b.keys("y")
	f.forbidden, f.err = false, errors.New("the Job has been replaced")
	b = changing(t, f, "validate")
	b.keys("ctrl+d", "y")
	shows(b, "The Job has been replaced")
	b.keys("y", "esc")
	shows(b, "7 Jobs")
	assert.Equalf(t, len(f.applied), 1, "it did %q", f.applied)
	b = changing(t, f, "validate")
	b.o.Changer = nil
	for _, key := range []string{"Z", "ctrl+d"} {
		b.keys(key)
		shows(b, "no key "+key+" here")
	}
	b.press("?")
	hides(b, "delete the Job")
}

// On the screens of a Job, the keys act on that Job.
// Requirements: VIE-09
func TestOpenJobIsChanged(t *testing.T) {
	f := &fakeChanger{}
	s := load(t, "running-success-policy")
	b := open(t, s, size{80, 24}, func(o *Options) { o.Changer = f })
	b.keys("?")
	shows(b, "suspend/resume the Job", "delete the Job")
	b.keys("?", "5", "enter", "ctrl+d")
	shows(b, "Delete job running-success-policy/running-success-policy", "Delete job running-success-policy? y/N", "▶ Running")
	b.keys("ctrl+d", "Z", "R", "y")
	assert.SlicesEqual(t, f.applied, []string{"delete running-success-policy/running-success-policy " + s.Job.Report.Job.UID}, "it did")
}
