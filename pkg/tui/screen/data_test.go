package screen

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eta"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Issue 6.2: the time left covers only the indexes that can still succeed, and names its method.
func TestTimeLeftNamesItsMethod(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	show := func(d *Data, after time.Duration, done int32, change func(*explain.Report)) {
		started := metav1.NewTime(at.Add(-10 * time.Minute))
		r := &explain.Report{
			Job: explain.Job{Namespace: "ns", Name: "a", UID: "1", Started: &started}, ObservedAt: metav1.NewTime(at.Add(after)),
			Verdict: explain.Verdict{Outcome: reconcile.OutcomeOpen},
			Indexes: &explain.Indexes{Total: 1000, CompletedCount: done, FailedCount: 390},
		}
		if change != nil {
			change(r)
		}
		d.SetSnapshot(&snapshot.Snapshot{Time: at.Add(after), Focus: snapshot.Focus{Job: types.NamespacedName{Namespace: "ns", Name: "a"}}, Job: &snapshot.Job{Report: r}})
	}
	d := &Data{Snap: &snapshot.Snapshot{}}
	show(d, 0, 590, nil)
	if e := d.Job.ETA; !e.Known || e.Remaining.Round(time.Second) != 20*time.Second || e.Method != "mean" {
		t.Errorf("59 a minute and 20 to go: %+v", e)
	}
	for i := range 5 {
		show(d, time.Duration(i+1)*time.Minute, 591+int32(i), nil)
	}
	if e := d.Job.ETA; !e.Known || e.Remaining.Round(time.Minute) != 15*time.Minute || e.Method != "last 5m" {
		t.Errorf("one a minute and 15 to go: %+v", e)
	}
	show(d, 6*time.Minute, 596, func(r *explain.Report) { r.SuccessPolicy = &explain.SuccessPolicy{} })
	assert.Equalf(t, d.Job.ETATotal, 610, "with a success policy: %+v", d.Job.ETA)
	for name, change := range map[string]func(*explain.Report){
		"suspended":   func(r *explain.Report) { r.Job.Suspend = true },
		"failing":     func(r *explain.Report) { r.Verdict.Outcome = reconcile.OutcomeFailing },
		"complete":    func(r *explain.Report) { r.Verdict.Outcome = reconcile.OutcomeComplete },
		"stalled":     func(r *explain.Report) { r.Verdict.Stalled = true },
		"not started": func(r *explain.Report) { r.Job.Started = nil },
		"a queue":     func(r *explain.Report) { r.Indexes = nil },
	} {
		show(d, 7*time.Minute, 597, change)
		assert.Equal(t, d.Job.ETA, (eta.ETA{}), name)
	}
	show(d, 8*time.Minute, 1, func(r *explain.Report) { r.Job.UID = "2" })
	assert.Equal(t, len(d.Job.samples), 1, "samples of another Job of the name")
}

// Samples are thinned out, and the latest is kept.
func TestSamplesAreFew(t *testing.T) {
	j := &Job{Report: &explain.Report{Indexes: &explain.Indexes{Total: 1 << 20}}}
	for i := range 5000 {
		j.ObservedAt = metav1.NewTime(time.Unix(int64(i), 0))
		j.Indexes.CompletedCount = int32(i)
		j.estimate()
		if n := len(j.samples); n > maxSamples || j.samples[n-1].Done != int32(i) {
			t.Fatalf("after %d: %d samples, the last %+v", i, n, j.samples[n-1])
		}
	}
}
