package analysis_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// sweep returns the Jobs of a family, each with the others as its relatives.
func sweep(t *testing.T) []input.Input {
	t.Helper()
	c, err := recorded.Load(filepath.Join("testdata", "family", "sweep.yaml"))
	assert.NoError(t, err)
	return c.Inputs
}

// RTY-20: the explanation of each Job of a family shows the whole family: which indexes failed where and why, where they
// completed, and whether the family is complete.
func TestFamilyIsExplained(t *testing.T) {
	var got bytes.Buffer
	for _, f := range sweep(t) {
		r := explaintest.Report(f)
		draw(t, &got, "kubectl batchjob status "+r.Job.Name, func() error { return text.Summary(&got, r, text.Options{Width: 80}) })
		for _, width := range []int{80, 160} {
			draw(t, &got, fmt.Sprintf("kubectl batchjob why %s (%d columns)", r.Job.Name, width), func() error {
				return text.Explanation(&got, r, text.Options{Width: width})
			})
		}
	}
	golden(t, "../family/sweep.txt", recorded.Trim(got.Bytes()))
}

// RTY-20: the same as JSON.
func TestFamilyAsJSON(t *testing.T) {
	got, err := json.MarshalIndent(explaintest.Report(sweep(t)[0]).Family, "", "  ")
	assert.NoError(t, err)
	golden(t, "../family/sweep.json", append(got, '\n'))
}

// alone returns the Job of f with only some relatives; change applies to all of them.
func alone(f input.Input, change func(job *batchv1.Job), relatives ...input.Input) input.Input {
	f.Relatives = relatives
	all := []*input.Input{&f}
	for i := range f.Relatives {
		all = append(all, &f.Relatives[i])
	}
	for _, in := range all {
		in.Job = in.Job.DeepCopy()
		change(in.Job)
	}
	return f
}

// unchanged leaves Jobs as they are.
func unchanged(*batchv1.Job) {}

// only restricts a change to the named Job.
func only(name string, change func(*batchv1.Job)) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		if j.Name == name {
			change(j)
		}
	}
}

// runs turns a finished Job into a running one.
func runs(j *batchv1.Job) {
	j.Status.Conditions, j.Status.CompletedIndexes, j.Status.FailedIndexes = nil, "0-2,4-6,8,9", ptr.To("")
}

func nonIndexed(j *batchv1.Job) {
	j.Spec.CompletionMode, j.Spec.BackoffLimitPerIndex = ptr.To(batchv1.NonIndexedCompletion), nil
	j.Status.CompletedIndexes, j.Status.FailedIndexes = "", nil
	delete(j.Annotations, retry.IndexesAnnotation)
	switch j.Name {
	case "sweep":
		j.Status.Succeeded = 8
	case "sweep-retry-1":
		j.Spec.Completions, j.Status.Succeeded = ptr.To[int32](2), 1
	case "sweep-retry-2":
		j.Spec.Completions, j.Status.Succeeded = ptr.To[int32](1), 1
	}
}

// RTY-21: incomplete families are shown: running, interrupted and partial retries, a first Job that no longer exists or was
// replaced, and Jobs without indexes.
func TestFamiliesInParts(t *testing.T) {
	all := sweep(t)
	root, first, second := all[0], all[1], all[2]
	pending := only("sweep-retry-1", func(j *batchv1.Job) {
		runs(j)
		j.Status.CompletedIndexes, j.Spec.Suspend, j.Spec.Parallelism = "", ptr.To(true), ptr.To[int32](0)
		j.Annotations[retry.PendingAnnotation] = "true"
	})
	leftOut := only("sweep-retry-2", func(j *batchv1.Job) {
		j.Annotations[retry.LeftOutAnnotation], j.Annotations[retry.IndexesAnnotation] = "7", "3"
	})
	for name, c := range map[string]struct {
		input           input.Input
		members         int
		text, missing   string
		complete, first bool
		clause          string
		histories       []string
	}{
		"running": {alone(root, only("sweep-retry-1", runs), first), 2, "sweep-retry-1 is running; 2 indexes are missing", "3,7", false, true, "sweep-retry-1 is running the rest",
			[]string{"3,7 failed in sweep (OOMKilled); not completed yet in sweep-retry-1"}},
		"failed again": {alone(root, unchanged, first), 2, "1 index is missing", "7", false, true, "",
			[]string{"3 failed in sweep (OOMKilled); completed in sweep-retry-1", "7 failed in sweep and in sweep-retry-1, both times OOMKilled"}},
		"interrupted": {alone(root, pending, first), 2, "2 indexes are missing", "3,7", false, true, "", []string{"3,7 failed in sweep (OOMKilled)"}},
		"the interrupted one": {alone(first, pending, root), 2, "2 indexes are missing", "3,7", false, true,
			"The Job is a retry of sweep whose creation was interrupted: it runs nothing, and the next retry replaces it", []string{"3,7 failed in sweep (OOMKilled)"}},
		"left out": {alone(root, leftOut, second), 2, "1 index is missing", "7", false, true, "",
			[]string{"3 failed in sweep (OOMKilled); completed in sweep-retry-2", "7 failed in sweep (OOMKilled)"}},
		"scaled down": {alone(root, only("sweep-retry-2", func(j *batchv1.Job) {
			j.Spec.Completions, j.Status.CompletedIndexes, j.Status.Succeeded = ptr.To[int32](7), "0-6", 7
		}), first, second), 3, "1 index is missing", "7", false, true, "",
			[]string{"3 failed in sweep (OOMKilled); completed in sweep-retry-1", "7 failed in sweep and in sweep-retry-1, both times OOMKilled"}},
		"the first Job is gone": {alone(first, unchanged, second), 2, "complete, by sweep-retry-2", "", true, false, "sweep-retry-2 completed the rest",
			[]string{"7 failed in sweep-retry-1 (OOMKilled); completed in sweep-retry-2"}},
		"the first Job was replaced": {alone(first, only("sweep", func(j *batchv1.Job) { j.UID = "new" }), root), 1, "1 index is missing", "7", false, false,
			"", []string{"7 failed in sweep-retry-1 (OOMKilled)"}},
		"indexes that completed run again": {alone(root, only("sweep-retry-1", func(j *batchv1.Job) {
			j.Status = second.Job.Status
		}), first, second), 3, "complete, by sweep-retry-1", "", true, true, "sweep-retry-1 completed the rest",
			[]string{"3 failed in sweep (OOMKilled); completed in sweep-retry-1", "7 failed in sweep (OOMKilled); completed in sweep-retry-1 and in sweep-retry-2"}},
		"a retry of what is complete": {alone(first, only("sweep-retry-1", func(j *batchv1.Job) { j.Annotations[retry.AttemptAnnotation] = "3" }), second), 2,
			"complete, by sweep-retry-2", "", true, false, "", []string{"7 completed in sweep-retry-2; failed in sweep-retry-1 (OOMKilled)"}},
		"NonIndexed":          {alone(root, nonIndexed, first, second), 3, "complete, by sweep-retry-2", "", true, true, "sweep-retry-2 completed the rest", nil},
		"NonIndexed, partial": {alone(root, nonIndexed, first), 2, "1 completion is missing", "", false, true, "", nil},
		"chosen indexes of a complete Job": {alone(second, unchanged, func() input.Input {
			f := alone(first, func(j *batchv1.Job) { j.Annotations[retry.AttemptAnnotation] = "3" })
			return f
		}()), 2, "complete, by sweep-retry-2", "", true, false, "", []string{"7 completed in sweep-retry-2; failed in sweep-retry-1 (OOMKilled)"}},
	} {
		r := explaintest.Report(c.input)
		if r.Family == nil {
			t.Errorf("%s: no family", name)
			continue
		}
		f := r.Family
		var histories []string
		for _, h := range f.Histories {
			histories = append(histories, h.Indexes+" "+h.Text)
		}
		if len(f.Members) != c.members || f.Text != c.text || f.Missing != c.missing || f.Complete != c.complete || f.RootGone == c.first || !slices.Equal(histories, c.histories) {
			t.Errorf("%s: %+v\n%q", name, f, histories)
		}
		if c.clause != "" && !slices.Contains(r.Verdict.Clauses, c.clause) || c.clause == "" && strings.Contains(explaintest.Verdict(r), "rest") {
			t.Errorf("%s: %q", name, r.Verdict.Clauses)
		}
	}
}

// retryAdvice returns the command of the advice to retry, or "".
func retryAdvice(r explain.Report) string {
	for _, a := range r.Advice {
		if strings.Contains(a.Command, "batchjob retry") {
			return a.Command
		}
	}
	return ""
}

// RTY-20: an index that completed after a failure in the same Job did not fail in it, nor did an index whose pod was
// stopped when the Job ended.
func TestWhatFailedInAFamily(t *testing.T) {
	all := sweep(t)
	f := alone(all[0], unchanged, all[1])
	ended := f.Job.Status.Conditions[0].LastTransitionTime
	f.Pods = append(f.Pods, explaintest.PodOf("sweep-5-a", explaintest.OnIndex(5, 1, explaintest.Exits(1, "Error", time.Hour))), explaintest.PodOf("sweep-9-a", explaintest.OnIndex(9, 1, func(p *corev1.Pod) {
		explaintest.Exits(143, "Error", time.Hour)(p)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &ended, ptr.To[int64](0)
		p.Status.ContainerStatuses[0].State.Terminated.FinishedAt = ended
	})))
	f.Job.Status.CompletedIndexes = "0-2,4-6,8"
	family := explaintest.Report(f).Family
	assert.Equal(t, family.Members[0].Failed, 2, "failed")
	for _, h := range family.Histories {
		if strings.ContainsAny(h.Indexes, "59") {
			t.Errorf("%+v", h)
		}
	}
}

// RTY-24: the advice on a failed Job is a retry, with more memory after OOMKilled, unless nothing is missing, a retry is
// running, the Job's owner retries it, or the family is unknown. The last Job of a family is retried, because it includes
// the earlier changes.
func TestRetryIsAdvised(t *testing.T) {
	all := sweep(t)
	root, first, second := all[0], all[1], all[2]
	unread := alone(root, unchanged)
	unread.RelativesRead = false
	focused := alone(root, unchanged)
	const more, plain = "kubectl batchjob retry sweep --limits memory=32Mi -n ml", "kubectl batchjob retry sweep -n ml"
	for name, c := range map[string]struct {
		input input.Input
		want  string
	}{
		"alone":           {alone(root, unchanged), more},
		"two containers":  {alone(root, func(j *batchv1.Job) { j.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "init"}} }), "kubectl batchjob retry sweep -c main --limits memory=32Mi -n ml"},
		"no memory limit": {alone(root, func(j *batchv1.Job) { j.Spec.Template.Spec.Containers[0].Resources.Limits = nil }), plain},
		"failed again":    {alone(root, unchanged, first), "kubectl batchjob retry sweep-retry-1 -n ml"},
		"the last":        {alone(first, unchanged, root), "kubectl batchjob retry sweep-retry-1 --limits memory=48Mi -n ml"},
		"interrupted": {alone(root, only("sweep-retry-1", func(j *batchv1.Job) {
			runs(j)
			j.Annotations[retry.PendingAnnotation] = "true"
		}), first), more},
		"the interrupted one": {alone(first, only("sweep-retry-1", func(j *batchv1.Job) {
			runs(j)
			j.Spec.Suspend, j.Annotations[retry.PendingAnnotation] = ptr.To(true), "true"
		}), root), plain},
		"complete":  {alone(root, unchanged, first, second), ""},
		"running":   {alone(root, only("sweep-retry-1", runs), first), ""},
		"succeeded": {alone(second, unchanged), ""},
		"all done":  {alone(root, func(j *batchv1.Job) { j.Status.CompletedIndexes = "0-9" }), ""},
		"of a JobSet": {alone(root, func(j *batchv1.Job) {
			j.OwnerReferences = []metav1.OwnerReference{{Kind: "JobSet", Name: "x", Controller: ptr.To(true)}}
		}), ""},
		"of a CronJob": {alone(root, func(j *batchv1.Job) {
			j.OwnerReferences = []metav1.OwnerReference{{Kind: "CronJob", Name: "x", Controller: ptr.To(true)}}
		}), more},
		"deleted": {alone(root, func(j *batchv1.Job) { j.DeletionTimestamp = ptr.To(explaintest.Ago(time.Minute)) }), ""},
		"unread":  {unread, ""},
	} {
		assert.Equal(t, retryAdvice(explaintest.Report(c.input)), c.want, name)
	}
	assert.Contains(t, retryAdvice(analysis.Explain(focused, explain.Options{Pod: "sweep-7-qr8st"})), "--indexes 7", "of one pod")
}

// RTY-22: a Job without relatives, or whose relatives are unknown, has no family in the report.
func TestNoFamily(t *testing.T) {
	all := sweep(t)
	replaced := alone(all[0], only("sweep", func(j *batchv1.Job) { j.UID = "new" }), all[1], all[2])
	unread := all[0]
	unread.Relatives, unread.RelativesRead = nil, false
	unreadRetry := all[1]
	unreadRetry.Relatives, unreadRetry.RelativesRead = nil, false
	for name, f := range map[string]input.Input{
		"no retry": alone(all[0], unchanged), "retries of another Job of the name": replaced, "unread": unread, "unread retry": unreadRetry,
	} {
		if r := explaintest.Report(f); r.Family != nil || strings.Contains(explaintest.Verdict(r), "rest") {
			t.Errorf("%s: %+v, %s", name, r.Family, explaintest.Verdict(r))
		}
	}
}

// RTY-20: 10,000 failed indexes are described in a few sentences.
func TestLargeFamilyIsShort(t *testing.T) {
	job := func(name, completed, failed string, change func(*batchv1.Job)) input.Input {
		var pods []*input.Pod
		set, err := indexset.Parse(failed)
		assert.NoError(t, err)
		for i := range set.All() {
			pods = append(pods, explaintest.PodOf(fmt.Sprintf("%s-%d", name, i), explaintest.OnIndex(i, 1, explaintest.Exits(1+i%2, "Error", time.Hour))))
		}
		f := explaintest.InputOf(explaintest.IndexedJob(10000, func(j *batchv1.Job) {
			j.Name, j.UID = name, types.UID(name)
			j.Status.CompletedIndexes, j.Status.FailedIndexes = completed, &failed
			explaintest.FailJob(j, batchv1.JobReasonFailedIndexes, "")
			if change != nil {
				change(j)
			}
		}), pods...)
		f.RelativesRead = true
		return f
	}
	root := job("train", "", "0-9999", nil)
	root.Relatives = []input.Input{job("train-retry-1", "0-8999", "9000-9999", func(j *batchv1.Job) {
		j.Labels = map[string]string{retry.OfLabel: "train"}
		j.Annotations = map[string]string{retry.UIDAnnotation: "train", retry.AttemptAnnotation: "1", retry.IndexesAnnotation: "0-9999"}
	})}
	f := explaintest.Report(root).Family
	if len(f.Histories) != 4 || f.Histories[0].Count != 4500 || f.Histories[3].Count != 500 {
		t.Fatalf("%d: %+v", len(f.Histories), f.Histories)
	}
	assert.Equal(t, f.Histories[3].Text, "failed in train and in train-retry-1, both times exit code 2")
}
