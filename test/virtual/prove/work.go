package prove

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// workHashes returns the hashes of a stage's planned work, for each way to name the pods. Earlier state does not matter:
// the sync does nothing else until it plans again.
func workHashes(r *run) (all []carrierHash) {
	if !r.hashing {
		return nil
	}
	for _, names := range r.renamings {
		e := newEncoder(r, names)
		e.unversioned = true // See carrier.read.
		e.work(r.work)
		all = append(all, carrierHash{plan: e.sum(), status: statusHash(r, r.work, names), sync: syncHash(r, r.work, names)})
	}
	return all
}

// statusHash returns a hash of the status that a stage is about to write, and of what the process remembers once it is
// stored: no back-off, if the status decides the Job's outcome.
func statusHash(r *run, work any, names renaming) fingerprint {
	e := newEncoder(r, names)
	e.unversioned = true
	_, plan := partsOf(work)
	e.value(plan.FieldByName("Status"))
	if status := (*batchv1.JobStatus)(plan.FieldByName("Status").UnsafePointer()); status == nil || !history.IsDecided(&batchv1.Job{Status: *status}) {
		e.value(plan.FieldByName("Backoff"))
	}
	return e.sum()
}

// syncHash returns a hash of what the sync of a stage remembers now.
func syncHash(r *run, work any, names renaming) fingerprint {
	e := newEncoder(r, names)
	sync, _ := partsOf(work)
	for _, name := range []string{"skip", "exists", "held", "retry", "conflicts"} {
		e.value(sync.FieldByName(name))
	}
	e.flag(sync.FieldByName("errs").Len() > 0)
	return e.sum()
}

// partsOf returns the sync and the plan of a controller.work, whose fields are unexported.
func partsOf(work any) (sync, plan reflect.Value) {
	w := reflect.ValueOf(work)
	return w.FieldByName("jobSync").Elem(), w.FieldByName("plan").Elem()
}

// work encodes a stage's planned work, except for the status. Findings affect only events and metrics.
func (e *encoder) work(work any) {
	sync, plan := partsOf(work)
	e.class = jobVersions
	e.value(sync.FieldByName("job"))
	e.class = podVersions
	for _, name := range []string{"Create", "BackoffSeen"} {
		e.value(plan.FieldByName(name))
	}
	for _, name := range changesOfPods {
		refs := refsOf(plan.FieldByName(name))
		slices.SortFunc(refs, func(a, b reconcile.PodRef) int { return cmp.Compare(e.names.apply(a.Name), e.names.apply(b.Name)) })
		e.value(reflect.ValueOf(refs))
		for _, ref := range refs {
			e.flag(ref.ResourceVersion != "")
		}
	}
	after := time.Duration(reflect.ValueOf(work).FieldByName("result").FieldByName("After").Int())
	e.number(int64((after + timeGrain/2) / timeGrain))
}

// changesOfPods are the fields of a plan that name pods.
var changesOfPods = []string{"Delete", "Release", "Adopt", "Disown"}

func refsOf(list reflect.Value) []reconcile.PodRef {
	return slices.Clone(*(*[]reconcile.PodRef)(list.Addr().UnsafePointer()))
}

// versionsOf returns the versions of objects in the preconditions of a stage.
func versionsOf(work any) (all []objectVersion) {
	sync, plan := partsOf(work)
	job := (*batchv1.Job)(sync.FieldByName("job").UnsafePointer())
	all = append(all, objectVersion{string(job.UID), job.ResourceVersion})
	for _, name := range changesOfPods {
		for _, ref := range refsOf(plan.FieldByName(name)) {
			if v := (objectVersion{string(ref.UID), ref.ResourceVersion}); v.version != "" && !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	slices.SortFunc(all, func(a, b objectVersion) int {
		return cmp.Or(cmp.Compare(a.uid, b.uid), cmp.Compare(a.version, b.version))
	})
	return all
}
