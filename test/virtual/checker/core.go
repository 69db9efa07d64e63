package checker

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
)

// maxStages, plus two for each pod, exceeds the stages that any observation needs to come to rest: a status may have
// room for only one pod.
const maxStages = 40

// CheckCore checks invariant S10 on one observation, and returns the violations. order is a permutation of the pods.
func CheckCore(o reconcile.Observation, config reconcile.Config, order []int) []string {
	var broken []string
	job, pods := o.Job.DeepCopy(), clonePods(o.Pods)
	plan := reconcile.Compute(o, config)
	if !reflect.DeepEqual(job, o.Job) || len(pods) != len(o.Pods) || len(pods) > 0 && !reflect.DeepEqual(pods, o.Pods) {
		broken = append(broken, "Compute changed its input")
	}
	shuffled := o
	shuffled.Pods = make([]*reconcile.Pod, len(pods))
	for i, j := range order {
		shuffled.Pods[i] = pods[j]
	}
	if other := reconcile.Compute(shuffled, config); !samePlan(plan, other) {
		broken = append(broken, fmt.Sprintf("the plan depends on the order of the pods: %+v and %+v", plan, other))
	}
	broken = append(broken, unexplained(o, plan)...)
	review := reconcile.Review(o, config)
	if review.Findings = plan.Findings; !samePlan(plan, review) {
		broken = append(broken, fmt.Sprintf("Review plans something else: %+v and %+v", plan, review))
	}
	if !comesToRest(o, config) {
		broken = append(broken, "plans do not come to rest")
	}
	return broken
}

// samePlan compares plans as sets of operations.
func samePlan(a, b reconcile.Plan) bool {
	return reconcile.Same(a.Status, b.Status) && a.RequeueAfter == b.RequeueAfter && a.Urgent == b.Urgent &&
		reconcile.Same(&a.Create, &b.Create) && sameRefs(a.Delete, b.Delete) && sameRefs(a.Release, b.Release) &&
		sameRefs(a.Adopt, b.Adopt) && sameRefs(a.Disown, b.Disown) && reflect.DeepEqual(a.Findings, b.Findings)
}

func sameRefs(a, b []reconcile.PodRef) bool {
	set := map[reconcile.PodRef]bool{}
	for _, r := range a {
		set[r] = true
	}
	for _, r := range b {
		if !set[r] {
			return false
		}
	}
	return len(a) == len(b)
}

// comesToRest carries out plans at the same instant, and reports whether one becomes empty.
func comesToRest(o reconcile.Observation, config reconcile.Config) bool {
	for range maxStages + 2*len(o.Pods) {
		plan := reconcile.Compute(o, config)
		if plan.IsEmpty() {
			return true
		}
		o = Applied(o, plan)
	}
	return false
}

// Applied returns the observation after a plan was carried out.
func Applied(o reconcile.Observation, plan reconcile.Plan) reconcile.Observation {
	next := o
	if plan.Status != nil {
		next.Job = o.Job.DeepCopy()
		next.Job.Status = *plan.Status
		next.Backoff = plan.Backoff
	}
	for _, r := range plan.Release {
		if !r.IgnoredFailure.IsZero() {
			next.Backoff = next.Backoff.Failed(backoff.Failure{Pod: r.UID, At: r.IgnoredFailure})
		}
	}
	next.Pods = append(changedPods(o.Pods, plan), createdPods(o, plan)...)
	next.Strays = nil
	adopted := uids(plan.Adopt)
	for _, pod := range clonePods(o.Strays) {
		if !adopted[pod.UID] {
			next.Strays = append(next.Strays, pod)
			continue
		}
		pod.Finalizer = true
		next.Pods = append(next.Pods, pod)
	}
	return next
}

// changedPods returns the pods that remain after a plan.
func changedPods(pods []*reconcile.Pod, plan reconcile.Plan) (left []*reconcile.Pod) {
	released, deleted, disowned := uids(plan.Release), uids(plan.Delete), uids(plan.Disown)
	for _, pod := range clonePods(pods) {
		pod.Finalizer = pod.Finalizer && !released[pod.UID]
		pod.Deleting = pod.Deleting || deleted[pod.UID]
		if gone := pod.Deleting && !pod.Finalizer && (pod.IsTerminal() || !pod.Scheduled); !gone && !disowned[pod.UID] {
			left = append(left, pod)
		}
	}
	return left
}

func createdPods(o reconcile.Observation, plan reconcile.Plan) (created []*reconcile.Pod) {
	for i, n := range plan.Create {
		name := fmt.Sprintf("paper-%d-%d", len(o.Pods), i)
		created = append(created, &reconcile.Pod{
			UID: types.UID(name), Name: name, Phase: corev1.PodPending, Index: n.Index, Finalizer: true, CreatedAt: o.Now,
			Failures: n.Failures, Ignored: n.Ignored,
		})
	}
	return created
}

func uids(refs []reconcile.PodRef) map[types.UID]bool {
	out := map[types.UID]bool{}
	for _, r := range refs {
		out[r.UID] = true
	}
	return out
}

func clonePods(pods []*reconcile.Pod) []*reconcile.Pod {
	out := make([]*reconcile.Pod, len(pods))
	for i, pod := range pods {
		p := *pod
		out[i] = &p
	}
	return out
}
