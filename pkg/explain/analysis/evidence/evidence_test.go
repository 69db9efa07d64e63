package evidence_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// CLI-04: a warning that a kubelet writes for every pod of a node is no reason for a failure.
func TestWarningsOfEveryPodAreNoCause(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Status.Failed = 1
		explaintest.FailJob(j, batchv1.JobReasonBackoffLimitExceeded, "")
	}))
	f.Events = []input.Event{explaintest.PodEvent("MissingClusterDNS", "falling back", time.Minute), explaintest.PodEvent("CheckLimitsForResolvConf", "too long", time.Minute), explaintest.PodEvent("Evicted", "the node was low on memory", time.Minute)}
	var known []string
	for _, e := range explaintest.Report(f).Evidence {
		if e.Kind == explain.EvidenceEvent {
			known = append(known, e.Reason)
		}
	}
	assert.Equalf(t, strings.Join(known, " "), "Evicted", "events %q are evidence, want that of the eviction", known)
}
