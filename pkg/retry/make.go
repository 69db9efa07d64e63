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

// Request selects what to retry.
type Request struct {
	// Name is the name of the new Job; if it is "", the name comes from Family.Next, which avoids the names in Taken.
	Name  string
	Taken []string
	// Indexes are the indexes to run; nil for the indexes that no Job of the family has completed.
	Indexes *indexset.Set
	// FailedOnly leaves out indexes that never ran; Ran are the indexes of existing pods. Failed indexes ran.
	FailedOnly bool
	Ran        indexset.Set
	// ByAnnotation makes the retry rely on our controller, which runs no other indexes, instead of a stored status.
	ByAnnotation bool
	// Replace retries a Job that has not finished, such as a stalled Job: the caller deletes it once the retry exists.
	Replace bool
}

// Plan is a Job to create, with the Steps that make it run only some indexes.
type Plan struct {
	// Object is the Job as it is to be created. If there are Steps, it is suspended and has parallelism 0.
	Object *unstructured.Unstructured
	// Root is the name of the first Job of the family, Attempt the number of the retry.
	Root    string
	Attempt int32
	// Indexed reports whether Indexes are the indexes that the Job runs; Pods is the number of completions that it
	// runs, 0 if the Job does not set it.
	Indexed bool
	Indexes indexset.Set
	Pods    int32
	// Steps make the Job run; nil if it runs from its creation.
	Steps *Steps
	// Dropped lists what the copy does not have.
	Dropped []Dropped
}

// RefusedError is the reason why a Job is not retried.
type RefusedError struct {
	Kind RefusalKind
	// Job is the Job of the family that the refusal is about.
	Job *batchv1.Job
	// Indexes are the indexes that are out of range, or that no Job of the family has completed.
	Indexes indexset.Set
	// ManagedBy is spec.managedBy of the copy, if its controller does not read IndexesAnnotation.
	ManagedBy string
}

// RefusalKind is the kind of a RefusedError.
type RefusalKind string

// The kinds of refusals.
const (
	Running        RefusalKind = "Running"        // a Job of the family has not finished
	Finished       RefusalKind = "Finished"       // Replace was requested, but the Job has finished
	Pending        RefusalKind = "Pending"        // the Job is a retry whose creation was interrupted
	NothingMissing RefusalKind = "NothingMissing" // the Job is complete
	FamilyComplete RefusalKind = "FamilyComplete" // other Jobs of the family have completed the rest
	LargerMissing  RefusalKind = "LargerMissing"  // the Job is complete, and a larger Job of the family lacks Indexes
	NothingRan     RefusalKind = "NothingRan"     // FailedOnly was requested, but no missing index is known to have run
	NotIndexed     RefusalKind = "NotIndexed"     // indexes were requested of a NonIndexed Job
	OutOfRange     RefusalKind = "OutOfRange"     // indexes were requested that the Job does not have
	NoIndexes      RefusalKind = "NoIndexes"      // the requested list of indexes is empty
	ListTooLong    RefusalKind = "ListTooLong"    // a list of indexes does not fit into an annotation
	ReadsNoList    RefusalKind = "ReadsNoList"    // ByAnnotation was requested, but the copy's controller does not read the list
	OtherCluster   RefusalKind = "OtherCluster"   // MultiKueue runs the Job in another cluster, without its status
)

func (r *RefusedError) Error() string { return "retry of Job " + r.Job.Name + ": " + string(r.Kind) }

// Make plans the retry of the Job, a member of the family. object is the Job with the requested changes; job is the Job
// as it ran. The error is a *RefusedError. Pending retries are ignored; the caller removes them.
func Make(job *batchv1.Job, object *unstructured.Unstructured, family Family, q Request) (*Plan, error) {
	if refusal := family.refusal(job, q.Replace); refusal != nil {
		return nil, refusal
	}
	r := &Plan{Root: RootOf(job), Indexed: jobspec.IsIndexed(&job.Spec)}
	if refusal := r.choose(job, family, q); refusal != nil {
		return nil, refusal
	}
	var name string
	r.Attempt, name = family.Next(job, q.Taken)
	r.Object, r.Dropped = Copy(object, cmp.Or(q.Name, name))
	leftOut := indexset.Below(completions(job)).Difference(r.Indexes).Difference(family.Done())
	r.setLineage(job, leftOut)
	if !r.Indexed {
		if r.Pods > 0 { // The Job sets a number of completions.
			r.setField(int64(r.Pods), "spec", "completions")
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
		r.Steps = r.suspend(job)
	}
	return r, nil
}

// refusal returns an error if the Job would run all of its indexes, or if its family would count the indexes that are
// left out as completed.
func (r *Plan) refusal(job *batchv1.Job, leftOut indexset.Set, byAnnotation bool) *RefusedError {
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

// readsList reports whether our controller runs the copy, and so reads IndexesAnnotation: the copy's managedBy is our
// default, or the same as the Job's, whose status our controller was the last to write. It may replace the built-in
// one.
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

// refusal returns an error if no Job of the family can be retried now. A Job that is replaced may be running.
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

// choose selects the indexes or completions that the retry runs.
func (r *Plan) choose(job *batchv1.Job, family Family, q Request) *RefusedError {
	switch {
	case !r.Indexed && q.Indexes != nil:
		return &RefusedError{Kind: NotIndexed, Job: job}
	case !r.Indexed:
		return r.chooseCompletions(job, family)
	case q.Indexes != nil:
		if outside := q.Indexes.Difference(indexset.Below(completions(job))); !outside.IsEmpty() {
			return &RefusedError{Kind: OutOfRange, Job: job, Indexes: outside}
		}
		if r.Indexes = *q.Indexes; r.Indexes.IsEmpty() {
			return &RefusedError{Kind: NoIndexes, Job: job}
		}
	default:
		r.Indexes = family.Missing(job)
		if refusal := family.nothingMissing(job); refusal != nil {
			return refusal
		}
		if q.FailedOnly {
			ran := q.Ran
			for _, member := range family {
				ran = ran.Union(Failed(member))
			}
			if r.Indexes = r.Indexes.Intersection(ran); r.Indexes.IsEmpty() {
				return &RefusedError{Kind: NothingRan, Job: job}
			}
		}
	}
	r.Pods = int32(r.Indexes.Len())
	return nil
}

// nothingMissing returns an error if the Indexed Job has no index to run. A retry that was scaled down lacks indexes of
// its family.
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

func (r *Plan) chooseCompletions(job *batchv1.Job, family Family) *RefusedError {
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

// setLineage sets the labels and annotations that link the retry to its family.
func (r *Plan) setLineage(job *batchv1.Job, leftOut indexset.Set) {
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

// dropMetPolicy removes a successPolicy that is already met by the indexes that count as completed: the Job would be
// complete before it runs any index.
func (r *Plan) dropMetPolicy(job *batchv1.Job) {
	rest := indexset.Below(completions(job)).Difference(r.Indexes)
	stored, _, _ := unstructured.NestedMap(r.Object.Object, "spec", "successPolicy")
	policy := &batchv1.SuccessPolicy{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored, policy); err != nil {
		return // The API server will reject it.
	}
	rule, _ := successpolicy.Evaluate(policy, rest, indexset.Set{}, completions(job))
	if rule == successpolicy.NoRule {
		return
	}
	unstructured.RemoveNestedField(r.Object.Object, "spec", "successPolicy")
	r.Dropped = append(r.Dropped, Dropped{Kind: SuccessPolicy, Name: strconv.Itoa(rule)})
}

// suspend keeps the copy from running until its Steps are applied.
func (r *Plan) suspend(job *batchv1.Job) *Steps {
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
	r.setField(true, "spec", "suspend")
	r.setField(int64(0), "spec", "parallelism")
	return steps
}

func (r *Plan) setField(value any, path ...string) {
	_ = unstructured.SetNestedField(r.Object.Object, value, path...) // It cannot fail: spec is an object, as the Job was decoded.
}
