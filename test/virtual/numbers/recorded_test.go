package numbers

import (
	"errors"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// sumFault reports a wrong sum in a report of a recorded Job.
type sumFault func(format string, args ...any)

// Requirements: CLI-41. Of each recorded Job, the rows of causes add up to the number above them and to the failures that the
// status counts, the first sentence counts the same ones, and no pod that the Job stopped is among the causes.
func TestSumsOfRecordedJobsAgree(t *testing.T) {
	var several, stopped int
	for _, folder := range []string{"../../../pkg/explain/analysis/testdata/recorded", "../../world/field/recordings"} {
		files, err := recorded.Files(folder)
		if err != nil || len(files) == 0 {
			t.Fatalf("%d recordings in %s, %v", len(files), folder, err)
		}
		for _, file := range files {
			c, err := recorded.Load(file)
			if errors.Is(err, recorded.ErrNoJob) {
				continue
			}
			assert.NoError(t, err)
			for _, in := range c.Inputs {
				r := analysis.Explain(in, explain.Options{})
				fault := func(format string, args ...any) {
					t.Errorf("%s of %s: "+format+"\n%s", append(append([]any{r.Job.Name, filepath.Base(file)}, args...), r.Verdict.Sentence)...)
				}
				checkSums(&r, fault)
				checkFirstSentence(&r, fault)
				checkStopped(&in, &r, fault)
				several += min(1, len(section.OwnCauses(&r))/2)
				stopped += int(r.Counts.StoppedFailures)
			}
		}
	}
	if several == 0 || stopped == 0 {
		t.Errorf("%d recorded Jobs have several causes, and %d pods were stopped", several, stopped)
	}
}

func checkSums(r *explain.Report, fault sumFault) {
	totals, sum, counts := section.FailureTotals(r), r.FailuresWithoutPod, &r.Counts
	status := counts.Failed + counts.UncountedFailed
	for _, c := range section.OwnCauses(r) {
		sum += c.Count
		if c.Action != string(batchv1.PodFailurePolicyActionIgnore) && c.Count > status+counts.AwaitReplacement {
			fault("%d pods of cause %q, and the status counts %d", c.Count, c.Text, status)
		}
	}
	if sum != totals.All {
		fault("the rows have %d failures, the header %d", sum, totals.All)
	}
	if counted := totals.All - totals.Ignored - totals.Awaiting; counted != status-counts.StoppedFailures {
		fault("%d failures count by their causes, and %d by the status, of which the Job stopped %d", counted, status, counts.StoppedFailures)
	}
}

// countedFirst matches the numbers of failures in a first sentence: all failures, or the total after the number for one
// cause.
var countedFirst = regexp.MustCompile(`(?:^|[:;,] )(\d+) (?:other )?pods? failed|\(?\d+ of (\d+)\)?:? (?:the pod|container)|, (\d+) failed`)

func checkFirstSentence(r *explain.Report, fault sumFault) {
	totals := section.FailureTotals(r)
	for _, m := range countedFirst.FindAllStringSubmatch(r.Verdict.Sentence, -1) {
		for _, number := range m[1:] {
			if n, err := strconv.Atoi(number); err == nil && int32(n) != totals.All && int32(n) != totals.Counted {
				fault("the first sentence counts %d failures, the causes are %d, %d of which count", n, totals.All, totals.Counted)
			}
		}
	}
}

// checkStopped reports pods that the Job stopped but that are examples of a cause: running pods that were deleted when
// the outcome of the Job was decided.
func checkStopped(in *input.Input, r *explain.Report, fault sumFault) {
	var ending time.Time
	for _, c := range in.Job.Status.Conditions {
		if c.Type == batchv1.JobFailureTarget || c.Type == batchv1.JobSuccessCriteriaMet {
			ending = c.LastTransitionTime.Time
		}
	}
	stopped := map[string]bool{}
	for _, p := range in.Pods {
		stopped[p.Name] = !ending.IsZero() && p.IsTerminating() && !p.DeletedAt.Before(ending)
	}
	for i := range r.Pods {
		stopped[r.Pods[i].Name] = stopped[r.Pods[i].Name] || r.Pods[i].Stopped != ""
	}
	for _, c := range section.OwnCauses(r) {
		for _, pod := range c.Pods {
			if stopped[pod] {
				fault("the Job stopped pod %s, which has cause %q", pod, c.Text)
			}
		}
	}
}
