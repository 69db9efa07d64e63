package sim

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Checker holds the invariants of a Job controller on every committed write. It
// keeps a history of its own, and never looks into the controller's cache; where a
// rule of the API has to be applied (a podFailurePolicy, a back-off), it does so
// itself, in the plainest way.
type Checker struct {
	excuses
	jobs map[types.UID]*history
	// order holds the same, in the order of creation.
	order []*history
	// owners are the Jobs that controlled a pod last, touched when somebody else than
	// the controller last wrote it, or one of several processes disowned it.
	owners  map[types.UID]types.UID
	touched map[types.UID]time.Time
	// generated are the names of pods by generateName, in the order of creation.
	generated map[string][]string
	trace
	// coreEvery is of how many states one is used to check Compute itself (S10), which costs
	// more than all other checks; states counts them.
	coreEvery, states int
	// ownWrites counts the commits of controller processes.
	ownWrites int
	// Violations are the broken invariants, each with the time and its number.
	Violations []string
}

// checks are how closely a Checker looks.
type checks struct {
	coreEvery int
	noTrace   bool
}

// newChecked returns a World that a Checker watches.
func newChecked(o Options) *World { return newCheckedBy(checks{}, o) }

func newCheckedBy(how checks, o Options) *World {
	o.MaxWrites = cmp.Or(o.MaxWrites, 20_000)
	w := NewWorld(o)
	w.ctx = klog.NewContext(context.Background(), logr.New(planSink{planned: w.plans}))
	w.attach(&Checker{
		excuses: excuses{world: w}, jobs: map[types.UID]*history{}, owners: map[types.UID]types.UID{}, touched: map[types.UID]time.Time{}, generated: map[string][]string{},
		trace: trace{of: w, off: how.noTrace}, coreEvery: how.coreEvery,
	})
	return w
}

// checker is the Checker that watches the World.
func (w *World) checker() *Checker { return w.observer.(*Checker) }

func (c *Checker) observe(event any) {
	switch e := event.(type) {
	case Commit:
		c.traceCommit(e)
		c.committed(e)
	case clockAdvancing:
		c.passing(e.to)
	case clocksSet:
		c.clockSet(e.ahead)
	case processStarted:
		c.restarted(e.ProcessOptions)
	case writingStatus:
		c.statusWrite(e.job)
	case statusAnswered:
		c.answered(e.err)
	case writingPod:
		c.podWrite(e.verb, e.pod, e.job)
	case callFailed:
		c.troubled()
	case watchesBlind:
		c.blind(e.until)
	case gaveUp: // L1, for a controller that never comes to an end.
		c.violate("L1", "%s", e.reason)
	default:
		panic(fmt.Sprintf("unknown event %T", e))
	}
}

func (c *Checker) violate(invariant, format string, args ...any) {
	v := fmt.Sprintf("%.3fs %s: %s", c.world.Elapsed().Seconds(), invariant, fmt.Sprintf(format, args...))
	c.Violations = append(c.Violations, v)
	c.tracef("VIOLATION %s", v)
	if len(c.Violations) > maxViolations {
		c.world.gaveUp = "too many violations"
	}
}

// features returns those of the process that makes the present write, which may come through late, and be of a process that
// is gone.
func (c *Checker) features() reconcile.Features {
	if by := c.world.Store.knew.process; by != nil {
		return by.features
	}
	return c.world.Controller.Limits.Features
}

func (c *Checker) committed(m Commit) {
	if m.Ours() {
		c.ownWrites++
	}
	switch {
	case m.NewJob != nil:
		c.job(m)
	case m.OldJob != nil:
		h := c.jobs[m.OldJob.UID]
		h.gone = true
		if h.endingSince.IsZero() {
			h.endingSince = c.world.Now()
		}
		c.expect(h)
	default:
		c.pod(m)
	}
}

func (c *Checker) job(m Commit) {
	h := c.jobs[m.NewJob.UID]
	if h == nil {
		h = newHistory()
		c.jobs[m.NewJob.UID] = h
		c.order = append(c.order, h)
	}
	h.job = m.NewJob
	h.wrote[m.By] = c.world.Now()
	if m.Verb == "status" || len(h.statuses) == 0 {
		h.statuses = append(h.statuses, statusVersion{c.world.Now(), m})
	}
	if m.Verb != "status" {
		c.edited(h, m)
	} else {
		c.gauges(h, m)
		c.exactlyOnce(h, m)
		c.recorded(h, m)
		c.indexes(h, m)
		c.conditions(h, m)
		c.finished(h, m)
	}
	c.expect(h)
	c.core(m.NewJob)
}

// edited notes what a late watch event may excuse.
func (c *Checker) edited(h *history, m Commit) {
	now := c.world.Now()
	suspended := func(j *batchv1.Job) bool { return j != nil && ptr.Deref(j.Spec.Suspend, false) }
	if suspended(m.NewJob) && !suspended(m.OldJob) {
		h.suspendedSince = now
	}
	if m.NewJob.DeletionTimestamp != nil && h.endingSince.IsZero() {
		h.endingSince = now
	}
	if m.OldJob == nil || m.OldJob.Generation != m.NewJob.Generation {
		h.specs = append(h.specs, specVersion{now, &m.NewJob.Spec})
	}
	for _, l := range h.order {
		if !inRange(&m.NewJob.Spec, l.index()) {
			l.expired = true
			h.forget(l)
		}
	}
	c.replaces(h)
}

func (c *Checker) pod(m Commit) {
	var was, is types.UID
	if m.OldPod != nil {
		was = observe.JobUID(m.OldPod)
	}
	if m.NewPod != nil {
		is = observe.JobUID(m.NewPod)
		if prefix := m.NewPod.GenerateName; m.OldPod == nil && prefix != "" {
			c.generated[prefix] = append(c.generated[prefix], m.NewPod.Name)
		}
		if !m.Ours() || m.Verb == "disown" && !c.alone() {
			c.touched[m.NewPod.UID] = c.world.Now()
		}
		if is != "" {
			c.owners[m.NewPod.UID] = is
		}
	} else {
		delete(c.touched, m.OldPod.UID)
		delete(c.owners, m.OldPod.UID)
	}
	if h := c.jobs[was]; h != nil {
		c.writeAhead(h, m)
		if is != was {
			c.parted(h, m)
		}
	}
	if h := c.jobs[is]; h != nil {
		c.lived(h, m)
		if m.OldPod == nil && m.Ours() {
			c.created(h, m)
		}
	}
	c.afterPod(m, was, is)
}

// afterPod judges the new state of the Job that the pod belongs to, or did.
func (c *Checker) afterPod(m Commit, was, is types.UID) {
	for _, uid := range []types.UID{was, is} {
		if h := c.jobs[uid]; h != nil && (uid == is || was != is) {
			h.wrote[m.By] = c.world.Now()
			c.expect(h)
		}
	}
	owner := is
	if owner == "" {
		owner = was
	}
	if h := c.jobs[owner]; h != nil {
		if job := c.world.Store.jobOf(h.job.Name, h.job.UID); job != nil {
			c.core(job)
		}
	}
}

// isOurs reports whether the Job is one that the controller under test reconciles.
func (c *Checker) isOurs(job *batchv1.Job) bool {
	name := c.world.Controller.ManagedBy
	if name == "" {
		name = controller.DefaultManagedBy
	}
	by := ptr.Deref(job.Spec.ManagedBy, batchv1.JobControllerName)
	return by == name || c.world.Controller.ReplaceBuiltin && by == batchv1.JobControllerName
}

// answered is S4: the controller never writes a status that the API server rejects.
func (c *Checker) answered(err error) {
	if apierrors.IsInvalid(err) {
		c.violate("S4", "%v", err)
	}
}

// maxViolations are enough: after them there is nothing to learn.
const maxViolations = 50

func tracked(pod *corev1.Pod) bool {
	return pod != nil && slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
}

func inRange(spec *batchv1.JobSpec, index int32) bool {
	return !isIndexed(spec) || index >= 0 && index < ptr.Deref(spec.Completions, 0)
}

func selects(job *batchv1.Job, pod *corev1.Pod) bool {
	return selectorOf(job).Matches(labels.Set(pod.Labels))
}

func selectorOf(job *batchv1.Job) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	must(err)
	return selector
}

// manyPods is how many pods of a Job make it too slow to check the core on every
// write: beyond that it is checked once for as many writes as there are pods.
const manyPods = 100

// core is S10, on the state that the write led to: Compute gives the same plan
// twice and for every order of pods, changes nothing it is given, and comes to
// rest when its plans are carried out at the same instant.
func (c *Checker) core(job *batchv1.Job) {
	pods := len(c.world.Store.podsOf(job.UID))
	c.states++
	if pods > manyPods && c.states%pods != 0 {
		return
	}
	// Drawn in any case: how much is checked must not change what happens.
	order := c.world.rng.Perm(pods)
	if c.coreEvery > 1 && c.states%c.coreEvery != 0 {
		return
	}
	for _, broken := range checkCore(c.world.observe(job), c.world.Controller.Limits, order) {
		c.violate("S10", "%s", broken)
	}
}

// observe is the observation of a Job in the stored state.
func (w *World) observe(job *batchv1.Job) reconcile.Observation {
	o := reconcile.Observation{Job: job, Now: w.Now()}
	selector := selectorOf(job)
	for _, pod := range w.Store.PodsOf(job.UID) {
		p := observe.Pod(pod)
		p.Unselected = !selector.Matches(labels.Set(pod.Labels))
		o.Pods = append(o.Pods, &p)
	}
	for _, pod := range w.Store.strays(job) {
		p := observe.Pod(pod)
		o.Strays = append(o.Strays, &p)
	}
	return o
}

// strays returns the pods that nobody controls and the Job's selector selects, by name.
func (s *Store) strays(job *batchv1.Job) []*corev1.Pod {
	return slices.DeleteFunc(s.PodsOf(""), func(p *corev1.Pod) bool {
		return p.DeletionTimestamp != nil || metav1.GetControllerOfNoCopy(p) != nil || !selects(job, p)
	})
}
