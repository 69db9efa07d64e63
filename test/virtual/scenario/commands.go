package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubemetrics "k8s.io/component-base/metrics"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
)

// Runner carries out the commands of a scenario file, in one world after the other.
type Runner struct {
	World *checker.World
	// Options apply to every world.
	Options sim.Options
	Checks  checker.Checks
	// begun is called when a world begins, worldEnds before the next one begins.
	begun     func(*checker.World)
	worldEnds func()
	// waitForPods is how long a command waits until the pod that it names is on a node, which a fault may have delayed.
	waitForPods time.Duration
	names       podNames
	// Prepared holds the Jobs of job commands without input.
	Prepared map[*datadriven.TestData]*batchv1.Job
	// scripted holds the faults that commands asked for. Injected, if set, adds faults.
	scripted []scriptedFault
	Injected func(sim.Call) sim.Fault
	// InjectedWatch, if set, adds watch faults. scriptedWatch holds the watch faults that commands asked for, by the
	// number of the delivery; Delivered counts the deliveries.
	InjectedWatch func() sim.WatchFault
	scriptedWatch map[int]sim.WatchFault
	Delivered     int
	// registry has the metrics of the world, if it was to have any.
	registry kubemetrics.KubeRegistry
}

// commands holds the functions of the commands, which pkg/sim/testdata/README.md explains.
var commands = map[string]func(*Runner, *testing.T, *datadriven.TestData) string{
	"annotate": (*Runner).annotate, "annotate-pod": annotatePod, "clock": (*Runner).setClock,
	"create-pod": createPod, "delete-job": (*Runner).deleteJob, "delete-pod": deletePod,
	"edit": (*Runner).edit, "evict": evict, "fault": (*Runner).fault, "finalize": (*Runner).finalize, "findings": (*Runner).findings,
	"gates": (*Runner).gates, "job": (*Runner).job, "metrics": (*Runner).metrics, "node-back": nodeBack, "node-deleted": nodeDeleted,
	"one-leader": (*Runner).oneLeader, "orphan-pod": orphanPod, "outage": (*Runner).outage, "phase": phase,
	"pods": (*Runner).pods, "quota": (*Runner).quota, "reject": (*Runner).reject, "relabel": relabel, "relist": (*Runner).relist, "reshard": (*Runner).reshard,
	"restart": (*Runner).restart, "run": (*Runner).runWorld, "script": (*Runner).script, "second-leader": (*Runner).secondLeader,
	"settle": (*Runner).settle, "status": (*Runner).status, "status-by-others": (*Runner).foreignStatus,
	"strip": strip, "terminate-namespace": (*Runner).terminateNamespace, "unlabel": unlabel,
	"watch-fault": (*Runner).watchFault, "world": (*Runner).newWorld,
}

// Run carries out a command, and returns its output.
func (s *Runner) Run(t *testing.T, d *datadriven.TestData) string {
	if s.World == nil && d.Cmd != "world" {
		s.begin(sim.Options{Seed: 1})
	}
	command, ok := commands[d.Cmd]
	if !ok {
		d.Fatalf(t, "unknown command %s", d.Cmd)
	}
	if d.HasArg("after") {
		s.later(t, d, command)
		return "ok\n"
	}
	return command(s, t, d)
}

// later carries out a command after a delay, even in the middle of a sync. Its output becomes a part of the trace.
func (s *Runner) later(t *testing.T, d *datadriven.TestData, command func(*Runner, *testing.T, *datadriven.TestData) string) {
	w, d := s.World, ptr.To(*d) // The caller reuses d.
	w.After(duration(t, d, "after", 0), func() {
		before := w.Trace()
		w.Checker.PutBefore(before + strings.TrimPrefix(command(s, t, d), "ok\n"))
	})
}

func duration(t *testing.T, d *datadriven.TestData, name string, otherwise time.Duration) time.Duration {
	var text string
	if !scanIf(t, d, name, &text) {
		return otherwise
	}
	if text == "forever" {
		return sim.Forever
	}
	out, err := time.ParseDuration(text)
	if err != nil {
		d.Fatalf(t, "%s: %v", name, err)
	}
	return out
}

func jobName(t *testing.T, d *datadriven.TestData) string {
	name := "a"
	scanIf(t, d, "job", &name)
	return name
}

// podName returns the pod that a command is about, or "". Most commands do nothing without a pod.
func (s *Runner) podName(t *testing.T, d *datadriven.TestData) string {
	var name string
	d.ScanArgs(t, "name", &name)
	if d.HasArg("after") {
		return s.meant(name)
	}
	s.World.RunUntil(func() bool {
		pod := s.World.Store.Pods()[s.meant(name)]
		return pod != nil && (pod.Spec.NodeName != "" || s.World.Nodes().ActOf(pod).Unscheduled)
	}, duration(t, d, "wait", s.waitForPods))
	return s.meant(name)
}

// meant resolves a pod name of a scenario: a plain name, "any:N" for any existing pod, or "KIND:PREFIX:N" for the N-th
// pod of a generateName.
func (s *Runner) meant(name string) string {
	kind, rest, found := strings.Cut(name, ":")
	switch {
	case !found:
		return s.names.meant(s.World.Checker.Generated, name)
	case kind == "any":
		names := slices.Sorted(maps.Keys(s.World.Store.Pods()))
		if len(names) == 0 {
			return ""
		}
		return names[Number(rest)%len(names)]
	}
	prefix, place, _ := strings.Cut(rest, ":")
	if list := s.World.Checker.Generated[prefix]; Number(place) < len(list) {
		return list[Number(place)]
	}
	return ""
}

// Number parses a number in a scenario file, and panics if it is invalid.
func Number(text string) int {
	n, err := strconv.Atoi(text)
	Must(err)
	return n
}

// podNames maps the pod names of a file to their place within their generateName. The number in a generated name depends
// on everything that was created before; the place of a pod among the pods of its index does not.
type podNames map[string]ordinal

// ordinal is the place of a pod among the pods of one generateName.
type ordinal struct {
	GenerateName string
	Place        int
}

// meant returns the name of the pod in a world with these generated names. The first world in which a name is looked up
// determines its place.
func (n podNames) meant(generated map[string][]string, name string) string {
	if n == nil {
		return name
	}
	o, known := n[name]
	if !known {
		for generateName, list := range generated {
			if place := slices.Index(list, name); place >= 0 {
				n[name] = ordinal{generateName, place}
			}
		}
		return name
	}
	if list := generated[o.GenerateName]; o.Place < len(list) {
		return list[o.Place]
	}
	return ""
}

// scanIf reads an optional argument, and reports whether it is present.
func scanIf(t *testing.T, d *datadriven.TestData, name string, into any) bool {
	if !d.HasArg(name) {
		return false
	}
	if number, ok := into.(*int32); ok {
		var n int
		d.ScanArgs(t, name, &n)
		*number = int32(n)
		return true
	}
	d.ScanArgs(t, name, into)
	return true
}

// answer returns the output of a command that may be rejected.
func (s *Runner) answer(err error) string {
	if err != nil {
		return err.Error() + "\n"
	}
	return s.World.Trace()
}

// job creates a Job from a JobSpec or a whole Job.
func (s *Runner) job(t *testing.T, d *datadriven.TestData) string {
	job := &batchv1.Job{}
	if prepared := s.Prepared[d]; prepared != nil {
		job = prepared.DeepCopy()
		job.Name = jobName(t, d)
		return s.answer(s.World.Create(job))
	}
	var whole struct {
		Metadata, Spec any
	}
	if err := yaml.Unmarshal([]byte(d.Input), &whole); err != nil {
		return err.Error() + "\n"
	}
	into := any(&job.Spec)
	if whole.Metadata != nil || whole.Spec != nil {
		into = job
	}
	if err := yaml.UnmarshalStrict([]byte(d.Input), into); err != nil {
		return err.Error() + "\n"
	}
	job.Name = jobName(t, d)
	return s.answer(s.World.Create(job))
}

func (s *Runner) script(t *testing.T, d *datadriven.TestData) string {
	scene := sim.Scene{Index: -1, Act: sim.Act{TerminateExit: 143}}
	act := &scene.Act
	scanIf(t, d, "index", &scene.Index)
	scanIf(t, d, "attempt", &scene.Attempt)
	scanIf(t, d, "nth", &scene.Nth)
	scanIf(t, d, "restarts", &act.Restarts)
	act.RestartsAfter = duration(t, d, "restarts-after", 0)
	scanIf(t, d, "exit", &act.Exit)
	scanIf(t, d, "container", &act.Container)
	scanIf(t, d, "other-exit", &act.OtherExit)
	scanIf(t, d, "init-exit", &act.InitExit)
	scanIf(t, d, "terminate-exit", &act.TerminateExit)
	act.Run = duration(t, d, "run", 0)
	act.Terminate = duration(t, d, "terminate", 0)
	act.Unscheduled = d.HasArg("unscheduled")
	act.NodeGone = d.HasArg("node-gone")
	var condition string
	if scanIf(t, d, "condition", &condition) {
		name, status, found := strings.Cut(condition, ":")
		if !found {
			status = "True"
		}
		act.Conditions = []corev1.PodCondition{{Type: corev1.PodConditionType(name), Status: corev1.ConditionStatus(status)}}
	}
	s.World.Nodes().AddScene(jobName(t, d), scene)
	return "ok\n"
}

func (s *Runner) condition(name string) string {
	job := s.World.Store.Job(name)
	if job == nil {
		return "no Job\n"
	}
	for _, t := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		if c := history.Condition(job, t); c != nil {
			return fmt.Sprintf("%s: %s (%s)\n", c.Type, c.Reason, c.Message)
		}
	}
	return ""
}

func (s *Runner) status(t *testing.T, d *datadriven.TestData) string {
	job := s.World.Store.Job(jobName(t, d))
	if job == nil {
		return "no Job\n"
	}
	text, err := yaml.Marshal(job.Status)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return string(text)
}

func (s *Runner) pods(t *testing.T, d *datadriven.TestData) string {
	var out strings.Builder
	job := s.World.Store.Jobs()[jobName(t, d)]
	list := s.World.Store.PodsOf("")
	if !d.HasArg("orphans") {
		if job == nil {
			return "no Job\n"
		}
		list = s.World.Store.PodsOf(job.UID)
	}
	for _, p := range list {
		fmt.Fprintf(&out, "%s %s", p.Name, p.Status.Phase)
		if p.DeletionTimestamp != nil {
			out.WriteString(" deleting")
		}
		if checker.Tracked(p) {
			out.WriteString(" tracked")
		}
		for _, a := range []struct{ key, name string }{
			{batchv1.JobIndexFailureCountAnnotation, "failures"}, {batchv1.JobIndexIgnoredFailureCountAnnotation, "ignored"},
		} {
			if value, ok := p.Annotations[a.key]; ok {
				fmt.Fprintf(&out, " %s=%s", a.name, value)
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}

// findings prints the findings of Compute for the stored state.
func (s *Runner) findings(t *testing.T, d *datadriven.TestData) string {
	job := s.World.Store.Job(jobName(t, d))
	if job == nil {
		return "no Job\n"
	}
	var out strings.Builder
	plan := reconcile.Compute(checker.Observation(s.World.World, job), s.World.Controller.Limits)
	for _, line := range plan.Findings.Lines(s.World.Now()) {
		out.WriteString(line + "\n")
	}
	return out.String()
}

func (s *Runner) edit(t *testing.T, d *datadriven.TestData) string {
	_, err := s.World.Store.EditJob(jobName(t, d), func(job *batchv1.Job) {
		if err := yaml.UnmarshalStrict([]byte(d.Input), &job.Spec); err != nil {
			d.Fatalf(t, "%v", err)
		}
	})
	return s.answer(err)
}

// annotate sets annotations of a Job, or removes the ones without a value.
func (s *Runner) annotate(t *testing.T, d *datadriven.TestData) string {
	_, err := s.World.Store.EditJob(jobName(t, d), func(job *batchv1.Job) { job.Annotations = changed(job.Annotations, d) })
	return s.answer(err)
}

// changed applies the keys in a command, other than its own arguments, to a map.
func changed(values map[string]string, d *datadriven.TestData) map[string]string {
	if values == nil {
		values = map[string]string{}
	}
	for _, arg := range d.CmdArgs {
		switch {
		case slices.Contains([]string{"job", "name", "after", "wait"}, arg.Key):
		case len(arg.Vals) == 0 || arg.Vals[0] == "":
			delete(values, arg.Key)
		default:
			values[arg.Key] = arg.Vals[0]
		}
	}
	return values
}

func (s *Runner) deleteJob(t *testing.T, d *datadriven.TestData) string {
	propagation := "background"
	scanIf(t, d, "propagation", &propagation)
	how, ok := map[string]metav1.DeletionPropagation{
		"background": metav1.DeletePropagationBackground, "foreground": metav1.DeletePropagationForeground, "orphan": metav1.DeletePropagationOrphan,
	}[propagation]
	if !ok {
		d.Fatalf(t, "unknown propagation %s", propagation)
	}
	return s.answer(s.World.Store.DeleteJob(jobName(t, d), how))
}

// finalize removes another client's finalizer from a Job.
func (s *Runner) finalize(t *testing.T, d *datadriven.TestData) string {
	var finalizer string
	d.ScanArgs(t, "finalizer", &finalizer)
	s.World.Store.FinalizeJob(jobName(t, d), finalizer)
	return s.World.Trace()
}

// quota limits the number of pods in the namespace that have not ended.
func (s *Runner) quota(t *testing.T, d *datadriven.TestData) string {
	pods := -1
	scanIf(t, d, "pods", &pods)
	s.World.Store.SetQuota(pods)
	s.World.Checker.Troubled()
	return "ok\n"
}

// foreignStatus writes a status as another controller would.
func (s *Runner) foreignStatus(t *testing.T, d *datadriven.TestData) string {
	job := s.World.Store.Job(jobName(t, d))
	if job == nil {
		return "no Job\n"
	}
	if err := yaml.UnmarshalStrict([]byte(d.Input), &job.Status); err != nil {
		d.Fatalf(t, "%v", err)
	}
	_, err := s.World.Store.UpdateJobStatus(job)
	return s.answer(err)
}

// settle lets an hour pass in which nothing may be written (L3), and after which nothing may be left over (L2, S3).
func (s *Runner) settle(*testing.T, *datadriven.TestData) string {
	if err := s.World.Settle(time.Hour); err != nil {
		return err.Error() + "\n" + s.World.Trace()
	}
	s.World.Trace()
	return "at rest\n"
}
