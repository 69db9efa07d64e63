package checker

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// Checker checks the invariants of a Job controller on every committed write. It keeps a history of its own, and never
// reads the controller's cache. Rules of the API (a podFailurePolicy, a back-off) are reimplemented in the simplest way.
type Checker struct {
	excuses
	jobs map[types.UID]*History
	// Order holds the same histories, in the order of creation.
	Order []*History
	// Owners maps a pod to the last Job that controlled it. Touched maps a pod to the last time that another client wrote
	// it, or that one of several controller processes disowned it.
	Owners  map[types.UID]types.UID
	Touched map[types.UID]time.Time
	// Generated maps a generateName to the names of its pods, in the order of creation.
	Generated map[string][]string
	trace
	// CoreEvery makes one of that many states a check of Compute itself (S10), which costs more than all other checks
	// together; states counts the states.
	CoreEvery, states int
	// ownWrites counts the commits of controller processes.
	ownWrites int
	// Violations holds the broken invariants, each with its time and id.
	Violations []string
}

// Checks configures how thorough a Checker is.
type Checks struct {
	// CoreEvery is the number of states per check of Compute itself; 0 checks all states.
	CoreEvery int
	// Untraced leaves out the trace.
	Untraced bool
}

// Observe implements sim.Observer.
func (c *Checker) Observe(event any) {
	switch e := event.(type) {
	case sim.Commit:
		c.traceCommit(e)
		c.committed(e)
	case sim.ClockAdvancing:
		c.passing(e.To)
	case sim.ClocksSet:
		c.clockSet(e.Ahead)
	case sim.ProcessStarted:
		c.restarted(e.ProcessOptions)
	case sim.WritingStatus:
		c.statusWrite(e.Job)
	case sim.StatusAnswered:
		c.answered(e.Err)
	case sim.WritingPod:
		writing{c, e.Pod, e.Job}.podWrite(e.Verb)
	case sim.CallFailed:
		c.Troubled()
	case sim.WatchesBlind:
		c.blind(e.Until)
	case sim.GaveUp: // L1, for a controller that never comes to rest.
		c.Violate("L1", "%s", e.Reason)
	default:
		panic(fmt.Sprintf("unknown event %T", e))
	}
}

// Violate records a broken invariant.
func (c *Checker) Violate(invariant, format string, args ...any) {
	v := fmt.Sprintf("%.3fs %s: %s", c.world.Elapsed().Seconds(), invariant, fmt.Sprintf(format, args...))
	c.Violations = append(c.Violations, v)
	c.Tracef("VIOLATION %s", v)
	if len(c.Violations) > maxViolations {
		c.world.GiveUp("too many violations")
	}
}

func (c *Checker) committed(m sim.Commit) {
	if m.Ours() {
		c.ownWrites++
	}
	switch {
	case m.NewJob != nil:
		c.job(m)
	case m.OldJob != nil:
		h := c.jobs[m.OldJob.UID]
		h.Gone = true
		if h.EndingSince.IsZero() {
			h.EndingSince = c.world.Now()
		}
		progress{c, h}.expect()
	default:
		c.pod(m)
	}
}

func (c *Checker) job(m sim.Commit) {
	h := c.jobs[m.NewJob.UID]
	if h == nil {
		h = newHistory()
		c.jobs[m.NewJob.UID] = h
		c.Order = append(c.Order, h)
	}
	h.Job = m.NewJob
	h.Wrote[m.By] = c.world.Now()
	if m.Verb == "status" || len(h.Statuses) == 0 {
		h.Statuses = append(h.Statuses, StatusVersion{c.world.Now(), m})
	}
	if m.Verb != "status" {
		change{c, h, m}.edited()
	} else {
		counting{c, h, m}.gauges()
		counting{c, h, m}.exactlyOnce()
		counting{c, h, m}.recorded()
		counting{c, h, m}.indexes()
		ending{c, h, m}.conditions()
		counting{c, h, m}.finished()
	}
	progress{c, h}.expect()
	c.core(m.NewJob)
}

// change is a write that changes the History of a Job.
type change struct {
	*Checker
	h *History
	m sim.Commit
}

// edited records changes that a late watch event may excuse.
func (c change) edited() {
	now := c.world.Now()
	suspended := func(j *batchv1.Job) bool { return j != nil && ptr.Deref(j.Spec.Suspend, false) }
	if suspended(c.m.NewJob) && !suspended(c.m.OldJob) {
		c.h.suspendedSince = now
	}
	if c.m.NewJob.DeletionTimestamp != nil && c.h.EndingSince.IsZero() {
		c.h.EndingSince = now
	}
	if c.m.OldJob == nil || c.m.OldJob.Generation != c.m.NewJob.Generation {
		c.h.Specs = append(c.h.Specs, specVersion{now, &c.m.NewJob.Spec})
	}
	for _, l := range c.h.Order {
		if !history.InRange(&c.m.NewJob.Spec, l.index()) {
			l.expired = true
			c.h.forget(l)
		}
	}
	c.replaces(c.h)
}

func (c *Checker) pod(m sim.Commit) {
	var was, is types.UID
	if m.OldPod != nil {
		was = observe.JobUID(m.OldPod)
	}
	if m.NewPod != nil {
		is = observe.JobUID(m.NewPod)
		if prefix := m.NewPod.GenerateName; m.OldPod == nil && prefix != "" {
			c.Generated[prefix] = append(c.Generated[prefix], m.NewPod.Name)
		}
		if !m.Ours() || m.Verb == "disown" && !c.alone() {
			c.Touched[m.NewPod.UID] = c.world.Now()
		}
		if is != "" {
			c.Owners[m.NewPod.UID] = is
		}
	} else {
		delete(c.Touched, m.OldPod.UID)
		delete(c.Owners, m.OldPod.UID)
	}
	if h := c.jobs[was]; h != nil {
		release{c, h, m}.writeAhead()
		if is != was {
			change{c, h, m}.parted()
		}
	}
	if h := c.jobs[is]; h != nil {
		change{c, h, m}.lived()
		if m.OldPod == nil && m.Ours() {
			creation{c, h, m}.created()
		}
	}
	c.afterPod(m, was, is)
}

// afterPod checks the new state of the Job that the pod belongs to, or belonged to.
func (c *Checker) afterPod(m sim.Commit, was, is types.UID) {
	for _, uid := range []types.UID{was, is} {
		if h := c.jobs[uid]; h != nil && (uid == is || was != is) {
			h.Wrote[m.By] = c.world.Now()
			progress{c, h}.expect()
		}
	}
	owner := is
	if owner == "" {
		owner = was
	}
	if h := c.jobs[owner]; h != nil {
		if job := c.storedJob(h); job != nil {
			c.core(job)
		}
	}
}

// isOurs reports whether the controller under test reconciles the Job.
func (c *Checker) isOurs(job *batchv1.Job) bool {
	name := c.world.Controller.ManagedBy
	if name == "" {
		name = controller.DefaultManagedBy
	}
	by := ptr.Deref(job.Spec.ManagedBy, batchv1.JobControllerName)
	return by == name || c.world.Controller.ReplaceBuiltin && by == batchv1.JobControllerName
}

// answered checks S4: the controller never writes a status that the API server rejects as invalid.
func (c *Checker) answered(err error) {
	if apierrors.IsInvalid(err) {
		c.Violate("S4", "%v", err)
	}
}

// maxViolations ends a run: more violations add no information.
const maxViolations = 50

// Tracked reports whether the pod exists and holds the Job tracking finalizer.
func Tracked(pod *corev1.Pod) bool {
	return pod != nil && history.IsTracked(pod)
}

// storedJob returns the stored Job, or nil if it is gone.
func (c *Checker) storedJob(h *History) *batchv1.Job {
	if job := c.world.Store.Jobs()[h.Job.Name]; job != nil && job.UID == h.Job.UID {
		return job
	}
	return nil
}

func selects(job *batchv1.Job, pod *corev1.Pod) bool {
	return selectorOf(job).Matches(labels.Set(pod.Labels))
}

func selectorOf(job *batchv1.Job) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		panic(err)
	}
	return selector
}

// manyPods is the number of pods of a Job above which it is too slow to check Compute on every write: then it is checked
// once per as many writes as the Job has pods.
const manyPods = 100

// core checks S10 on the state after the write: Compute returns the same plan twice and for every order of pods, does
// not change its input, and comes to rest when its plans are carried out at the same instant.
func (c *Checker) core(job *batchv1.Job) {
	pods := c.world.Store.CountPods(job.UID)
	c.states++
	if pods > manyPods && c.states%pods != 0 {
		return
	}
	// Always drawn, so that the number of checks does not change the course of a run.
	order := c.world.Perm(pods)
	if c.CoreEvery > 1 && c.states%c.CoreEvery != 0 {
		return
	}
	for _, broken := range CheckCore(Observation(c.world, job), c.world.Controller.Limits, order) {
		c.Violate("S10", "%s", broken)
	}
}

// Observation returns the observation of a Job in the stored state.
func Observation(w *sim.World, job *batchv1.Job) reconcile.Observation {
	o := reconcile.Observation{Job: job, Now: w.Now()}
	selector := selectorOf(job)
	for _, pod := range w.Store.PodsOf(job.UID) {
		p := observe.Pod(pod)
		p.Unselected = !selector.Matches(labels.Set(pod.Labels))
		o.Pods = append(o.Pods, &p)
	}
	for _, pod := range w.Store.PodsOf("") { // Strays are pods without a controller that the selector matches.
		if pod.DeletionTimestamp == nil && metav1.GetControllerOfNoCopy(pod) == nil && selector.Matches(labels.Set(pod.Labels)) {
			p := observe.Pod(pod)
			o.Strays = append(o.Strays, &p)
		}
	}
	return o
}
