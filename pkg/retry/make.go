package retry

import (
	"cmp"
	"maps"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/successpolicy"
)

// Request is what to retry.
type Request struct {
	// Name of the new Job; "" for one made of the family's that is not among Taken, see Family.Next.
	Name  string
	Taken []string
	// Indexes to run; nil for those that no Job of the family has completed.
	Indexes *indexset.Set
	// FailedOnly leaves out indexes that never ran; Ran are those of the pods that there are. Failed indexes ran.
	FailedOnly bool
	Ran        indexset.Set
	// ByAnnotation leaves it to our controller to run no other indexes, and stores nothing in the status.
	ByAnnotation bool
	// Replace is for a Job that has not finished, such as one that is stalled: the caller deletes it once the retry exists.
	Replace bool
}

// Retry is a Job to create, and what has it run only some indexes.
type Retry struct {
	// Object is the Job as it is created. With Steps, it is suspended and without parallelism.
	Object *unstructured.Unstructured
	// Root is the name of the first Job of the family, Attempt the number of the retry.
	Root    string
	Attempt int32
	// Indexed reports whether Indexes is what the Job runs; Pods is how many completions it runs, 0 if the Job has no
	// number of completions.
	Indexed bool
	Indexes indexset.Set
	Pods    int32
	// Steps make it run; nil if it does so from the beginning.
	Steps *Steps
	// Dropped is what the copy lacks.
	Dropped []Dropped
}

// RefusedError is why a Job is not retried.
type RefusedError struct {
	Kind RefusalKind
	// Job is the Job of the family that it is about.
	Job *batchv1.Job
	// Indexes are those that are out of range, or that no Job of the family has completed.
	Indexes indexset.Set
	// ManagedBy is spec.managedBy of the copy whose controller does not read the list.
	ManagedBy string
}

// RefusalKind is the kind of a RefusedError.
type RefusalKind string

// The kinds of refusals.
const (
	Running        RefusalKind = "Running"        // a Job of the family has not finished
	Finished       RefusalKind = "Finished"       // Replace, and the Job has finished
	Pending        RefusalKind = "Pending"        // the Job is a retry whose making was interrupted
	NothingMissing RefusalKind = "NothingMissing" // the Job is complete
	FamilyComplete RefusalKind = "FamilyComplete" // its retries have completed the rest
	LargerMissing  RefusalKind = "LargerMissing"  // the Job is complete, and a larger one of the family lacks Indexes
	NothingRan     RefusalKind = "NothingRan"     // FailedOnly, and no missing index is known to have run
	NotIndexed     RefusalKind = "NotIndexed"     // indexes of a NonIndexed Job
	OutOfRange     RefusalKind = "OutOfRange"     // indexes that the Job does not have
	NoIndexes      RefusalKind = "NoIndexes"      // an empty list of indexes
	ListTooLong    RefusalKind = "ListTooLong"    // a list of indexes does not fit into an annotation
	ReadsNoList    RefusalKind = "ReadsNoList"    // ByAnnotation, and no controller that reads it runs the copy
	OtherCluster   RefusalKind = "OtherCluster"   // MultiKueue runs the Job in another cluster, without its status
)

func (r *RefusedError) Error() string { return "retry of Job " + r.Job.Name + ": " + string(r.Kind) }

// Make plans the retry of the Job, which is of the family. object is the Job with the changes that were asked for; job is
// the Job as it ran. The error is a *RefusedError. Pending retries are ignored; the caller removes them.
func Make(job *batchv1.Job, object *unstructured.Unstructured, family Family, q Request) (*Retry, error) {
	if refusal := family.refusal(job, q.Replace); refusal != nil {
		return nil, refusal
	}
	r := &Retry{Root: RootOf(job), Indexed: jobspec.IsIndexed(&job.Spec)}
	if refusal := r.choose(job, family, q); refusal != nil {
		return nil, refusal
	}
	var name string
	r.Attempt, name = family.Next(job, q.Taken)
	r.Object, r.Dropped = copyOf(object, cmp.Or(q.Name, name))
	leftOut := indexset.Below(completions(job)).Difference(r.Indexes).Difference(family.Done())
	r.setLineage(job, leftOut)
	if !r.Indexed {
		if r.Pods > 0 { // It has a number of completions.
			r.set(int64(r.Pods), "spec", "completions")
		}
		return r, nil
	}
	r.dropMetPolicy(job)
	if r.Indexes.Len() == int(completions(job)) {
		return r, nil
	}
	if refusal := r.refusal(job, leftOut, q.ByAnnotation); refusal != nil {
		return nil, refusal
	}
	if !q.ByAnnotation {
		r.Steps = r.hold(job)
	}
	return r, nil
}

// refusal reports why nothing keeps the Job from running all of its indexes, or its family from counting those that are
// left out as completed.
func (r *Retry) refusal(job *batchv1.Job, leftOut indexset.Set, byAnnotation bool) *RefusedError {
	annotations := r.Object.GetAnnotations()
	managedBy, _, _ := unstructured.NestedString(r.Object.Object, "spec", "managedBy")
	switch {
	case managedBy == multiKueue:
		return &RefusedError{Kind: OtherCluster, Job: job}
	case byAnnotation && !readsList(job, managedBy):
		return &RefusedError{Kind: ReadsNoList, Job: job, ManagedBy: managedBy}
	case byAnnotation && annotations[IndexesAnnotation] == "", annotations[LeftOutAnnotation] != leftOut.String():
		return &RefusedError{Kind: ListTooLong, Job: job}
	}
	return nil
}

// readsList reports whether our controller runs the copy, so that it reads IndexesAnnotation: the managedBy of the copy is
// ours, or that of the Job, whose status our controller was the last to write. It may replace the built-in one.
func readsList(job *batchv1.Job, managedBy string) bool {
	if managedBy == reconcile.DefaultManagedBy {
		return true
	}
	var last *metav1.ManagedFieldsEntry
	for i := range job.ManagedFields {
		f := &job.ManagedFields[i]
		if f.Subresource == "status" && (last == nil || last.Time.Before(f.Time)) {
			last = f
		}
	}
	return managedBy == ptr.Deref(job.Spec.ManagedBy, "") && last != nil && last.Manager == reconcile.FieldManager
}

// refusal reports why nothing of the family can be retried now. A Job that is replaced may run.
func (f Family) refusal(job *batchv1.Job, replace bool) *RefusedError {
	for _, member := range f {
		replaced := replace && member.UID == job.UID
		if !IsPending(member) && !reconcile.IsFinished(member) && !replaced {
			return &RefusedError{Kind: Running, Job: member}
		}
	}
	switch {
	case IsPending(job):
		return &RefusedError{Kind: Pending, Job: job}
	case replace && reconcile.IsFinished(job):
		return &RefusedError{Kind: Finished, Job: job}
	}
	return nil
}

// choose sets what the retry runs.
func (r *Retry) choose(job *batchv1.Job, family Family, q Request) *RefusedError {
	switch {
	case !r.Indexed && q.Indexes != nil:
		return &RefusedError{Kind: NotIndexed, Job: job}
	case !r.Indexed:
		return r.chooseCompletions(job, family)
	case q.Indexes != nil:
		return r.chooseIndexes(job, *q.Indexes)
	}
	r.Indexes = family.Missing(job)
	if refusal := family.nothingMissing(job); refusal != nil {
		return refusal
	}
	if q.FailedOnly {
		if r.Indexes = r.Indexes.Intersection(q.Ran.Union(failedIn(family))); r.Indexes.IsEmpty() {
			return &RefusedError{Kind: NothingRan, Job: job}
		}
	}
	r.Pods = int32(r.Indexes.Len())
	return nil
}

// nothingMissing reports that no index of the Indexed Job is to run. A retry that was scaled down lacks indexes of its family.
func (f Family) nothingMissing(job *batchv1.Job) *RefusedError {
	completed := f.Complete(job)
	if completed == nil && !f.Missing(job).IsEmpty() {
		return nil
	}
	for _, member := range f {
		if completions(member) <= completions(job) || IsPending(member) || f.Complete(member) != nil {
			continue
		}
		if missing := f.Missing(member); !missing.IsEmpty() {
			return &RefusedError{Kind: LargerMissing, Job: member, Indexes: missing}
		}
	}
	if completes(job, job) {
		return &RefusedError{Kind: NothingMissing, Job: job}
	}
	return &RefusedError{Kind: FamilyComplete, Job: cmp.Or(completed, job)}
}

func (r *Retry) chooseIndexes(job *batchv1.Job, indexes indexset.Set) *RefusedError {
	if outside := indexes.Difference(indexset.Below(completions(job))); !outside.IsEmpty() {
		return &RefusedError{Kind: OutOfRange, Job: job, Indexes: outside}
	}
	if indexes.IsEmpty() {
		return &RefusedError{Kind: NoIndexes, Job: job}
	}
	r.Indexes, r.Pods = indexes, int32(indexes.Len())
	return nil
}

func (r *Retry) chooseCompletions(job *batchv1.Job, family Family) *RefusedError {
	if reconcile.FinishedCondition(job) == batchv1.JobComplete {
		return &RefusedError{Kind: NothingMissing, Job: job}
	}
	if completed := family.Complete(job); completed != nil {
		return &RefusedError{Kind: FamilyComplete, Job: completed}
	}
	if job.Spec.Completions != nil {
		if r.Pods = family.MissingCompletions(job); r.Pods == 0 {
			return &RefusedError{Kind: FamilyComplete, Job: job}
		}
	}
	return nil
}

func failedIn(family Family) (failed indexset.Set) {
	for _, job := range family {
		failed = failed.Union(Failed(job))
	}
	return failed
}

// setLineage names the family.
func (r *Retry) setLineage(job *batchv1.Job, leftOut indexset.Set) {
	labels, annotations := map[string]string{}, map[string]string{}
	maps.Copy(labels, r.Object.GetLabels())
	maps.Copy(annotations, r.Object.GetAnnotations())
	labels[OfLabel] = LabelOf(r.Root)
	if labels[OfLabel] != r.Root {
		annotations[OfLabel] = r.Root
	}
	annotations[UIDAnnotation] = rootUID(job)
	annotations[AttemptAnnotation] = strconv.Itoa(int(r.Attempt))
	if r.Indexed && r.Indexes.Len() < int(completions(job)) { // The others count as completed.
		annotations[CompletionsAnnotation] = strconv.Itoa(int(completions(job)))
		for name, set := range map[string]indexset.Set{IndexesAnnotation: r.Indexes, LeftOutAnnotation: leftOut} {
			if text := set.String(); text != "" && len(text) <= maxListed {
				annotations[name] = text
			}
		}
	}
	r.Object.SetLabels(labels)
	r.Object.SetAnnotations(annotations)
}

// dropMetPolicy drops a successPolicy that the indexes which count as completed meet: the Job would be complete before it
// has run any.
func (r *Retry) dropMetPolicy(job *batchv1.Job) {
	rest := indexset.Below(completions(job)).Difference(r.Indexes)
	stored, _, _ := unstructured.NestedMap(r.Object.Object, "spec", "successPolicy")
	policy := &batchv1.SuccessPolicy{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored, policy); err != nil {
		return // The API server refuses it.
	}
	rule, _ := successpolicy.Evaluate(policy, rest, indexset.Set{}, completions(job))
	if rule == successpolicy.NoRule {
		return
	}
	unstructured.RemoveNestedField(r.Object.Object, "spec", "successPolicy")
	r.Dropped = append(r.Dropped, Dropped{Kind: SuccessPolicy, Name: strconv.Itoa(rule)})
}

// hold has the copy run nothing until its Steps are taken.
func (r *Retry) hold(job *batchv1.Job) *Steps {
	parallelism, found, _ := unstructured.NestedInt64(r.Object.Object, "spec", "parallelism")
	if !found {
		parallelism = 1
	}
	steps := &Steps{
		Completed:   indexset.Below(completions(job)).Difference(r.Indexes),
		Parallelism: int32(parallelism),
		Queue:       r.Object.GetLabels()[queueLabel],
	}
	labels, annotations := r.Object.GetLabels(), r.Object.GetAnnotations()
	delete(labels, queueLabel)
	annotations[PendingAnnotation] = "true"
	r.Object.SetLabels(labels)
	r.Object.SetAnnotations(annotations)
	r.set(true, "spec", "suspend")
	r.set(int64(0), "spec", "parallelism")
	return steps
}

func (r *Retry) set(value any, path ...string) {
	_ = unstructured.SetNestedField(r.Object.Object, value, path...) // spec is an object: the Job was read.
}
