package sim

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// call makes an API call: time passes before and after the write, other events happen in the meantime, and a fault may
// be injected. A process that was replaced while it waited never gets a response.
func call[T any](p *process, verb, object string, write func() (T, error)) (T, error) {
	var none T
	w := p.world
	c, fault := p.ask(verb, object)
	switch {
	case fault.Kind == CrashBefore, fault.Kind == Late && c.Reads():
		panic(crash{c})
	case w.isAway():
		w.tracef("%s %s gets no answer%s", verb, object, w.signature(p.number))
		return none, errNetwork
	case fault.Kind == Late, fault.Kind == Timeout && !c.Reads():
		late := p.writer(w.Now())
		w.schedule(origin{kind: FromLateWrite, process: p, text: verb + " " + object}, fault.Wait, func() {
			w.tracef("%s %s comes through late", verb, object)
			_, _ = carryOut(p, c, late, write)
		})
	}
	if fault.Kind == Late {
		panic(crash{c})
	}
	if err := fault.answer(verb, object); err != nil {
		w.tracef("%s %s %s%s", verb, object, fault.Kind, w.signature(p.number))
		if w.Decider != nil {
			p.pass(c, answering, 0)
		}
		return none, err
	}
	before := w.Store.version
	out, err := carryOut(p, c, p.writer(time.Time{}), write)
	if fault.Kind == CrashAfter {
		panic(crash{c})
	}
	if !p.isAnswered(c, fault, before) {
		return none, errNetwork
	}
	return out, err
}

// isAnswered waits for the response to a call that was made at the store's version before, and reports whether it
// arrives.
func (p *process) isAnswered(c Call, fault Fault, before int64) bool {
	w, after := p.world, p.world.Store.version
	if fault.Kind == LoseResponse { // From now on, the process does not know the result.
		w.journal.unanswered(before, after)
	}
	p.pass(c, answering, w.random(w.Latency/2))
	if fault.Kind != LoseResponse && !w.isAway() {
		return true
	}
	w.tracef("%s %s: response lost%s", c.Verb, c.Object, w.signature(p.number))
	w.journal.unanswered(before, after)
	return false
}

// ask sends a call to the API server, and determines its fault. It retries while the call is throttled.
func (p *process) ask(verb, object string) (Call, Fault) {
	w, waited := p.world, time.Duration(0)
	for attempt := 0; ; attempt++ {
		w.calls++
		c, fault := Call{Number: w.calls, Verb: verb, Object: object}, Fault{}
		if w.Fault != nil {
			fault = w.Fault(c)
		}
		if fault.Kind != NoFault || w.isAway() {
			w.notify(CallFailed{})
		}
		p.pass(c, asking, p.throttled()+w.random(w.Latency/2))
		if w.Decider != nil {
			fault = w.Decider.Fault(c)
		}
		if fault.Kind != Throttle || attempt == maxThrottled || w.isAway() {
			return c, fault
		}
		w.tracef("%s %s is told to wait %v%s", verb, object, fault.Wait, w.signature(p.number))
		wait := min(fault.Wait, callTimeout-waited)
		// Writes after the wait were decided before it.
		w.notify(WatchesBlind{w.Now().Add(wait)})
		p.pass(c, asking, wait)
		if waited += wait; waited == callTimeout {
			return c, Fault{Kind: timedOut}
		}
	}
}

// asking and answering are the directions of a call.
const (
	asking    = "call"
	answering = "answer"
)

// pass lets virtual time pass for a call.
func (p *process) pass(c Call, way string, d time.Duration) {
	wait(p.world, origin{kind: FromCall, process: p, text: way, call: c}, d)
	if !p.alive {
		panic(crash{c})
	}
}

// throttled returns how long the client's rate limit delays a call made now.
func (p *process) throttled() time.Duration {
	if p.world.QPS == 0 {
		return 0
	}
	now := p.world.Now()
	if p.nextCall.Before(now) {
		p.nextCall = now
	}
	wait := p.nextCall.Sub(now)
	p.nextCall = p.nextCall.Add(time.Duration(float64(time.Second) / p.world.QPS))
	return wait
}

// writer returns the process as a writer, with the knowledge of the running routine.
func (p *process) writer(asked time.Time) writer {
	return writer{p.number, asked, p.world.current.knew}
}

// carryOut performs the write of a call on behalf of a process, which need not be alive.
func carryOut[T any](p *process, c Call, by writer, write func() (T, error)) (T, error) {
	w := p.world
	w.Store.writer = by
	out, err := write()
	w.Store.writer = writer{}
	if err != nil {
		w.tracef("%s %s: %v%s", c.Verb, c.Object, err, w.signature(p.number))
	}
	return out, err
}

// podList is the last pod list of a process: the pods that the selector of a Job, as the process knows it, matches, or
// all pods.
type podList struct {
	job *batchv1.Job
	all bool
}

const (
	verbStatus = "status"
	verbCreate = "create pod"
	verbGet    = "get job"
	verbList   = "list pods of"
	// verbListJobs lists all Jobs of the namespace.
	verbListJobs = "list jobs of"
)

// List implements cluster.PodLister.
func (p *process) List(_ context.Context, job *batchv1.Job, all bool) ([]corev1.Pod, string, error) {
	p.lists = podList{job, all}
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	must(err)
	type answer struct {
		pods    []corev1.Pod
		version string
	}
	a, err := call(p, verbList, job.Name, func() (answer, error) {
		a := answer{version: strconv.FormatInt(p.world.Store.version, 10)}
		for _, name := range slices.Sorted(maps.Keys(p.world.Store.pods)) {
			if pod := p.world.Store.pods[name]; all || selector.Matches(labels.Set(pod.Labels)) {
				a.pods = append(a.pods, *p.world.Store.copy(pod))
			}
		}
		p.world.tracef("list pods of %s%s", job.Name, p.world.signature(p.number))
		return a, nil
	})
	return a.pods, a.version, err
}

type jobAPI struct{ *process }

func (a jobAPI) Get(_ context.Context, _, name string) (*observe.NamedJob, error) {
	return call(a.process, verbGet, name, func() (*observe.NamedJob, error) {
		if job := a.world.Store.Job(name); job != nil {
			return &observe.NamedJob{Job: *job}, nil
		}
		return nil, apierrors.NewNotFound(jobsResource, name)
	})
}

func (a jobAPI) List(_ context.Context, namespace string) ([]batchv1.Job, error) {
	return call(a.process, verbListJobs, namespace, func() (jobs []batchv1.Job, err error) {
		for _, name := range slices.Sorted(maps.Keys(a.world.Store.jobs)) {
			jobs = append(jobs, *a.world.Store.Job(name))
		}
		a.world.tracef("list jobs%s", a.world.signature(a.number))
		return jobs, nil
	})
}

func (a jobAPI) UpdateStatus(_ context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	return call(a.process, verbStatus, job.Name, func() (*batchv1.Job, error) {
		a.world.notify(WritingStatus{job})
		out, err := a.world.Store.UpdateJobStatus(job)
		a.world.notify(StatusAnswered{err})
		return out, err
	})
}

type podAPI struct{ *process }

func (a podAPI) Create(_ context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	return call(a.process, verbCreate, pod.GenerateName, func() (*corev1.Pod, error) { return a.world.Store.CreatePod(pod) })
}

func (a podAPI) Delete(_ context.Context, _ string, ref reconcile.PodRef) (*corev1.Pod, error) {
	return call(a.process, "delete pod", ref.Name, func() (*corev1.Pod, error) {
		a.world.notify(WritingPod{Verb: "delete", Pod: ref})
		return a.world.Store.DeletePod(ref.Name, ref.UID)
	})
}

func (a podAPI) Patch(_ context.Context, job *batchv1.Job, ref reconcile.PodRef, patch cluster.PodPatch) (*corev1.Pod, error) {
	verb := patchVerbs[patch]
	return call(a.process, verb+" pod", ref.Name, func() (*corev1.Pod, error) {
		a.world.notify(WritingPod{verb, ref, job})
		return a.world.Store.PatchPod(job, ref, patch)
	})
}
