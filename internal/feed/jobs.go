package feed

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// How Jobs are lost: a Job was Deleted before it was seen to finish, or Replaced by another Job of the same name.
const (
	Deleted  = reconcile.Outcome("Deleted")
	Replaced = reconcile.Outcome("Replaced")
)

// EndOf returns how a Job ended, "" if it has not, given its last known state (nil if it was never seen) and how it was lost
// ("" if it exists). A Job may finish with the update that deletes it.
func EndOf(job *batchv1.Job, gone reconcile.Outcome) reconcile.Outcome {
	if job == nil {
		return gone
	}
	return cmp.Or(reconcile.Outcome(reconcile.FinishedCondition(job)), gone)
}

// Update reports a Job of the set that is new, has changed, or is gone.
type Update struct {
	Key types.NamespacedName
	UID types.UID
	// Job is the latest state; nil if the Job is gone and its deletion was not seen.
	Job *unstructured.Unstructured
	// Gone is Deleted or Replaced, "" while the Job exists.
	Gone reconcile.Outcome
}

// KeyOf returns the key of a Job.
func KeyOf(job *unstructured.Unstructured) types.NamespacedName {
	return types.NamespacedName{Namespace: job.GetNamespace(), Name: job.GetName()}
}

// KeyOfOutline returns the key of a Job's outline.
func KeyOfOutline(o *explain.Outline) types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
}

// CompareKeys compares keys by namespace, then name.
func CompareKeys(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// SortJobs sorts Jobs by namespace, then name.
func SortJobs(jobs []*unstructured.Unstructured) {
	slices.SortFunc(jobs, func(a, b *unstructured.Unstructured) int { return CompareKeys(KeyOf(a), KeyOf(b)) })
}

// Jobs follows a set of Jobs. Run sets the Collection of the embedded Watch.
type Jobs struct {
	Watch
	Set JobSet
	// OnUpdates receives all changes found by a list, or the change of one event; deleted Jobs come first. An error ends Run.
	OnUpdates func([]Update) error

	first []*unstructured.Unstructured // the Jobs that First listed
	known map[types.NamespacedName]knownJob
}

type knownJob struct {
	uid     types.UID
	version string
}

// First lists the set before Run reports it, so that a verb fails at its start rather than later.
func (j *Jobs) First(ctx context.Context) ([]*unstructured.Unstructured, error) {
	var err error
	j.first, j.Version, err = j.Set.List(ctx)
	return j.first, err
}

// Len returns the number of Jobs in the set.
func (j *Jobs) Len() int { return len(j.known) }

// Run reports the Jobs that First listed and follows the set from there; without First it lists.
func (j *Jobs) Run(ctx context.Context) error {
	if j.Version != "" {
		if err := j.replace(j.first); err != nil {
			return err
		}
		j.first = nil
	}
	j.Collection = Collection{Call: j.Set.Call("", ""), List: j.list, Open: j.open, OnEvent: j.onEvent}
	return j.Watch.Run(ctx)
}

func (j *Jobs) list(ctx context.Context) (string, error) {
	jobs, version, err := j.Set.List(ctx)
	if err != nil {
		return "", err
	}
	return version, wrapStop(j.replace(jobs))
}

func (j *Jobs) open(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	set := j.Set.Options()
	options.LabelSelector, options.FieldSelector = set.LabelSelector, set.FieldSelector
	return j.Set.Client.Watch(ctx, options)
}

// replace reports the differences between jobs, a complete list, and the Jobs known so far.
func (j *Jobs) replace(jobs []*unstructured.Unstructured) error {
	before := j.known
	j.known = make(map[types.NamespacedName]knownJob, len(jobs))
	var gone, changed []Update
	for _, job := range jobs {
		update := updateOf(job)
		was, isKnown := before[update.Key]
		delete(before, update.Key)
		if isKnown && was.uid != update.UID {
			gone = append(gone, Update{Key: update.Key, UID: was.uid, Gone: Replaced})
		}
		now := j.setKnown(update)
		if now != was || now.version == "" {
			changed = append(changed, update)
		}
	}
	for key, was := range before {
		gone = append(gone, Update{Key: key, UID: was.uid, Gone: Deleted})
	}
	slices.SortFunc(gone, func(a, b Update) int { return CompareKeys(a.Key, b.Key) })
	return j.OnUpdates(append(gone, changed...))
}

// onEvent reports the change of one event.
func (j *Jobs) onEvent(kind watch.EventType, object runtime.Object) error {
	job, ok := object.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("unexpected %T in the watch of Jobs", object)
	}
	update := updateOf(job)
	was, isKnown := j.known[update.Key]
	if !j.Set.contains(job) || kind == watch.Deleted && !isKnown {
		return nil
	}
	var updates []Update
	if isKnown && was.uid != update.UID { // Its deletion was not seen.
		updates = append(updates, Update{Key: update.Key, UID: was.uid, Gone: Replaced})
	}
	if kind == watch.Deleted {
		update.Gone = Deleted
		delete(j.known, update.Key)
	} else {
		j.setKnown(update)
	}
	return j.OnUpdates(append(updates, update))
}

func updateOf(job *unstructured.Unstructured) Update {
	return Update{Key: KeyOf(job), UID: job.GetUID(), Job: job}
}

func (j *Jobs) setKnown(u Update) knownJob {
	now := knownJob{uid: u.UID, version: u.Job.GetResourceVersion()}
	j.known[u.Key] = now
	return now
}
