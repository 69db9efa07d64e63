package evidence_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// CLI-04: a Job that failed because of failed indexes is explained by such an index, not by an index that failed once and
// then succeeded.
func TestEvidenceIsOfAFailedIndex(t *testing.T) {
	for _, reason := range []string{batchv1.JobReasonFailedIndexes, batchv1.JobReasonMaxFailedIndexesExceeded} {
		r := explaintest.Report(explaintest.InputOf(explaintest.IndexedJob(6, func(j *batchv1.Job) {
			j.Status.CompletedIndexes, j.Status.FailedIndexes, j.Status.Failed = "0-3,5", ptr.To("4"), 3
			explaintest.FailJob(j, reason, "")
		}), explaintest.PodOf("train-1-a", explaintest.OnIndex(1, 1, explaintest.Exits(1, "Error", time.Minute))), explaintest.PodOf("train-2-a", explaintest.OnIndex(2, 1, explaintest.Exits(1, "Error", time.Minute))),
			explaintest.PodOf("train-4-a", explaintest.OnIndex(4, 1, explaintest.Exits(42, "Error", 2*time.Minute)))))
		known := ""
		for _, e := range r.Evidence {
			if e.Kind == explain.EvidencePod {
				known += e.Pod
			}
		}
		assert.Equalf(t, known, "train-4-a", "%s: the evidence is pod", reason)
	}
}

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
