package retry

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func wantRefusal(t *testing.T, kind RefusalKind, r *Plan, err error) {
	t.Helper()
	var refusal *RefusedError
	if !errors.As(err, &refusal) || refusal.Kind != kind || r != nil {
		t.Errorf("%s: %v", kind, err)
	}
}

// Another controller ignores the annotation, and would run every index. For a custom managedBy, the status shows
// whether our controller runs the Job.
// Requirements: RTY-08
func TestAnnotationNeedsOurController(t *testing.T) {
	wrote := func(manager string, minute int) metav1.ManagedFieldsEntry {
		at := metav1.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC)
		return metav1.ManagedFieldsEntry{Manager: manager, Subresource: "status", Time: &at}
	}
	ours, theirs := wrote(cluster.FieldManager, 1), wrote("their-controller", 0)
	for what, c := range map[string]struct {
		managedBy string
		written   []metav1.ManagedFieldsEntry
		patched   string
		refused   bool
	}{
		"built-in":              {managedBy: "", refused: true},
		"built-in by name":      {managedBy: batchv1.JobControllerName, refused: true},
		"another":               {managedBy: "example.com/theirs", written: []metav1.ManagedFieldsEntry{theirs}, refused: true},
		"not known":             {managedBy: "example.com/ours", refused: true},
		"another after ours":    {managedBy: "example.com/theirs", written: []metav1.ManagedFieldsEntry{ours, wrote("their-controller", 2)}, refused: true},
		"given to another":      {managedBy: "example.com/ours", written: []metav1.ManagedFieldsEntry{ours}, patched: "example.com/theirs", refused: true},
		"ours":                  {managedBy: controller.DefaultManagedBy},
		"given to ours":         {managedBy: "example.com/theirs", patched: controller.DefaultManagedBy},
		"ours by another name":  {managedBy: "example.com/ours", written: []metav1.ManagedFieldsEntry{theirs, ours}},
		"ours for the built-in": {managedBy: "", written: []metav1.ManagedFieldsEntry{ours}},
	} {
		job := newJob(3, "0,1", "2")
		if c.managedBy != "" {
			job.Spec.ManagedBy = &c.managedBy
		}
		job.ManagedFields = c.written
		made := job.DeepCopy()
		if c.patched != "" {
			made.Spec.ManagedBy = &c.patched
		}
		r, err := Make(job, object(t, made), Family{job}, Request{ByAnnotation: true})
		if c.refused {
			wantRefusal(t, ReadsNoList, r, err)
		} else if err != nil || r.Steps != nil || r.Object.GetAnnotations()[IndexesAnnotation] != "2" || typed(t, r.Object).Spec.Suspend != nil {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
		if t.Failed() {
			t.Fatal(what)
		}
	}
}

// MultiKueue recreates the Job in another cluster, without the status: it would run every index.
// Requirements: RTY-10
func TestRemoteJobIsNotRetried(t *testing.T) {
	job := newJob(3, "0,1", "2")
	job.Spec.ManagedBy = ptr.To(multiKueue)
	r, err := make1(t, job, Request{})
	wantRefusal(t, OtherCluster, r, err)
}

// Indexes that are left out but cannot be listed would count as completed in the family, and never run.
// Requirements: RTY-09
func TestLeftOutIndexesMustFit(t *testing.T) {
	const n = 100_000
	job := newJob(n, "", "1")
	var odd []int32
	for i := int32(1); i < n; i += 2 {
		odd = append(odd, i)
	}
	chosen := indexset.Of(odd...)
	r, err := make1(t, job, Request{Indexes: &chosen})
	wantRefusal(t, ListTooLong, r, err)
	// Without such indexes, a list that is too long is omitted: the status has the indexes.
	job.Status.CompletedIndexes = indexset.Below(n).Difference(chosen).String()
	if r, err = make1(t, job, Request{}); err != nil || r.Pods != n/2 || r.Steps == nil || r.Object.GetAnnotations()[IndexesAnnotation] != "" {
		t.Errorf("%v", err)
	}
}

// A NonIndexed Job may fail because of its deadline after its last completion.
// Requirements: RTY-03, RTY-10
func TestNoCompletionIsMissing(t *testing.T) {
	job := newJob(10, "", "")
	job.Spec.CompletionMode, job.Status.Succeeded = ptr.To(batchv1.NonIndexedCompletion), 10
	r, err := make1(t, job, Request{})
	wantRefusal(t, FamilyComplete, r, err)
}

// A shortened name does not end with a separator before its suffix.
// Requirements: RTY-14
func TestCutNamesAreValid(t *testing.T) {
	job := newJob(100, "", "")
	job.Spec.CompletionMode = ptr.To(batchv1.NonIndexedCompletion)
	for cut := 40; cut < 55; cut++ {
		job.Name = strings.Repeat("a", cut) + ".-." + strings.Repeat("b", 60-cut)
		r, err := make1(t, job, Request{})
		if err != nil || strings.Contains(r.Object.GetName(), ".-retry") || strings.Contains(r.Object.GetName(), "--retry") {
			t.Errorf("%s: %v, %v", job.Name, r.Object.GetName(), err)
		}
	}
}

// Jobs with long names that begin alike have retries with different names.
// Requirements: RTY-14
func TestShortenedNamesDiffer(t *testing.T) {
	names := map[string]bool{}
	for _, end := range []string{"a", "b"} {
		for _, uid := range []types.UID{"1", "2"} {
			job := newJob(3, "0", "1")
			job.Name, job.UID = strings.Repeat("long-name-", 6)+end, uid
			r, err := make1(t, job, Request{})
			assert.NoError(t, err)
			if name := r.Object.GetName(); names[name] || len(validation.IsDNS1123Label(name+"-2")) > 0 {
				t.Errorf("%s", name)
			}
			names[r.Object.GetName()] = true
		}
	}
}

// A Job with a manual selector may have a name of up to 253 characters, too long for a label: its retries still refer
// to it.
// Requirements: RTY-09, RTY-14
func TestFamilyOfALongName(t *testing.T) {
	job := newJob(3, "", "")
	job.Name, job.Spec.CompletionMode = strings.Repeat("long-name.", 25), ptr.To(batchv1.NonIndexedCompletion)
	r, err := make1(t, job, Request{})
	assert.NoError(t, err)
	first := finish(started(t, r), batchv1.JobFailed)
	if label := first.Labels[OfLabel]; len(validation.IsValidLabelValue(label)) > 0 || label != LabelOf(job.Name) || RootOf(first) != job.Name {
		t.Errorf("label %s, root %s", label, RootOf(first))
	}
	if r, err = make1(t, first, Request{}, job); err != nil || r.Attempt != 2 || r.Root != job.Name || RootOf(typed(t, r.Object)) != job.Name {
		t.Errorf("%+v, %v", r, err)
	}
	forged := first.DeepCopy()
	forged.Annotations[OfLabel] = "another"
	assert.Equal(t, RootOf(forged), first.Labels[OfLabel], "an annotation that is not that of the label counts")
}

// With the labels of Argo CD and Kueue, these would delete the copy, or never start it.
// Requirements: RTY-11, RTY-12
func TestCopyIsFreeOfOtherControllers(t *testing.T) {
	job := newJob(3, "0", "1")
	job.Labels = map[string]string{"app.kubernetes.io/instance": "shop", "app.kubernetes.io/name": "sweep", "kueue.x-k8s.io/prebuilt-workload-name": "w", "kueue.x-k8s.io/priority-class": "high"}
	job.Annotations = map[string]string{"kueue.x-k8s.io/prebuilt-workload-name": "w"}
	job.Spec.Template.Labels = map[string]string{"app.kubernetes.io/instance": "shop", "kueue.x-k8s.io/podset": "main"}
	job.Spec.Template.Annotations = map[string]string{"kueue.x-k8s.io/workload": "job-sweep-1", "kueue.x-k8s.io/podset-required-topology": "rack"}
	r, err := make1(t, job, Request{})
	assert.NoError(t, err)
	made := typed(t, r.Object)
	if got := fmt.Sprint(made.Labels, r.Dropped); got != "map[app.kubernetes.io/name:sweep batchjob.dev/retry-of:sweep kueue.x-k8s.io/priority-class:high] [{Tool app.kubernetes.io/instance}]" {
		t.Error(got)
	}
	assert.Equal(t, made.Annotations["kueue.x-k8s.io/prebuilt-workload-name"], "", made.Annotations)
	if got := fmt.Sprint(made.Spec.Template.Annotations, made.Spec.Template.Labels); got != "map[kueue.x-k8s.io/podset-required-topology:rack] map[app.kubernetes.io/instance:shop kueue.x-k8s.io/podset:main]" {
		t.Errorf("pods: %s", got)
	}
}

// The labels of a JobSet are kept, because its pods read them; without an owner, they do not make the copy a part of
// the JobSet.
// Requirements: RTY-11
func TestJobOfJobSet(t *testing.T) {
	job := newJob(3, "0", "1")
	job.OwnerReferences = []metav1.OwnerReference{{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "train", Controller: ptr.To(true)}}
	labels := map[string]string{"jobset.sigs.k8s.io/jobset-name": "train", "jobset.sigs.k8s.io/job-index": "0"}
	job.Labels, job.Spec.Template.Labels = labels, labels
	r, err := make1(t, job, Request{})
	assert.NoError(t, err)
	made := typed(t, r.Object)
	if made.OwnerReferences != nil || fmt.Sprint(r.Dropped) != "[{Owner JobSet/train}]" || made.Labels["jobset.sigs.k8s.io/job-index"] != "0" || made.Spec.Template.Labels["jobset.sigs.k8s.io/job-index"] != "0" {
		t.Errorf("%v %+v", r.Dropped, made.ObjectMeta)
	}
}

// The success policy of the changed copy applies.
// Requirements: RTY-13
func TestChangedSuccessPolicy(t *testing.T) {
	job := newJob(4, "1", "0,2,3")
	met := job.DeepCopy()
	met.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("1")}}}
	r, err := Make(job, object(t, met), Family{job}, Request{})
	if err != nil || fmt.Sprint(r.Dropped) != "[{SuccessPolicy 0}]" {
		t.Errorf("set: %v, %v", r.Dropped, err)
	}
	if r, err = Make(met, object(t, job), Family{met}, Request{}); err != nil || len(r.Dropped) != 0 {
		t.Errorf("removed: %v, %v", r.Dropped, err)
	}
}
