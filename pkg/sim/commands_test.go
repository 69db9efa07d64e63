package sim

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
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// scenario carries out the commands of one file, one world after the other.
type scenario struct {
	world *World
	// options are added to every world.
	options Options
	checks  checks
	// begun is called when a world begins, worldEnds before another does.
	begun     func(*World)
	worldEnds func()
	// waitForPods is how long a command waits for the pod that it names to be on a node,
	// which a fault may have delayed.
	waitForPods time.Duration
	names       podNames
	// prepared are the Jobs of commands without a text of their own.
	prepared map[*datadriven.TestData]*batchv1.Job
	// scripted is what the fault commands asked for, injected what goes wrong besides.
	scripted []scriptedFault
	injected func(Call) Fault
	// injectedWatch is what goes wrong with watches, and scriptedWatch what commands asked for,
	// by the number of the delivery; delivered counts them.
	injectedWatch func() WatchFault
	scriptedWatch map[int]WatchFault
	delivered     int
}

// commands are explained in testdata/README.md.
var commands = map[string]func(*scenario, *testing.T, *datadriven.TestData) string{
	"annotate": (*scenario).annotate, "annotate-pod": (*scenario).annotatePod, "clock": (*scenario).setClock,
	"create-pod": (*scenario).createPod, "delete-job": (*scenario).deleteJob, "delete-pod": (*scenario).deletePod,
	"edit": (*scenario).edit, "evict": (*scenario).evict, "fault": (*scenario).fault, "finalize": (*scenario).finalize, "findings": (*scenario).findings,
	"gates": (*scenario).gates, "history": (*scenario).history, "job": (*scenario).job, "node-back": (*scenario).nodeBack, "node-deleted": (*scenario).nodeDeleted,
	"one-leader": (*scenario).oneLeader, "orphan-pod": (*scenario).orphanPod, "outage": (*scenario).outage, "phase": (*scenario).phase,
	"pods": (*scenario).pods, "quota": (*scenario).quota, "reject": (*scenario).reject, "relabel": (*scenario).relabel, "relist": (*scenario).relist, "reshard": (*scenario).reshard,
	"restart": (*scenario).restart, "run": (*scenario).runWorld, "script": (*scenario).script, "second-leader": (*scenario).secondLeader,
	"settle": (*scenario).settle, "status": (*scenario).status, "status-by-others": (*scenario).foreignStatus,
	"strip": (*scenario).strip, "terminate-namespace": (*scenario).terminateNamespace, "unlabel": (*scenario).unlabel,
	"watch-fault": (*scenario).watchFault, "world": (*scenario).newWorld,
}

func (s *scenario) run(t *testing.T, d *datadriven.TestData) string {
	if s.world == nil && d.Cmd != "world" {
		s.begin(Options{Seed: 1})
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

// later carries out a command after a while, even in the middle of a sync. What it prints is a
// part of the trace.
func (s *scenario) later(t *testing.T, d *datadriven.TestData, command func(*scenario, *testing.T, *datadriven.TestData) string) {
	w, d := s.world, ptr.To(*d) // The next command reuses it.
	w.after(duration(t, d, "after", 0), func() {
		before := w.Trace()
		out := before + strings.TrimPrefix(command(s, t, d), "ok\n")
		if trace := &w.checker().trace; !trace.off && out != "" {
			trace.lines = slices.Concat(strings.Split(strings.TrimSuffix(out, "\n"), "\n"), trace.lines)
		}
	})
}

func (s *scenario) begin(o Options) {
	if s.world != nil && s.worldEnds != nil {
		s.worldEnds()
	}
	s.scripted, s.scriptedWatch, s.delivered = nil, map[int]WatchFault{}, 0
	o.Fault, o.WatchFault = s.faultOf, s.watchFaultOf
	o.Seed += s.options.Seed
	o.Successor, o.OnSync, o.OnCommit = s.options.Successor, s.options.OnSync, s.options.OnCommit
	s.world = newCheckedBy(s.checks, o)
	if s.begun != nil {
		s.begun(s.world)
	}
}

func (s *scenario) newWorld(t *testing.T, d *datadriven.TestData) string {
	o := Options{Seed: 1}
	scanIf(t, d, "seed", &o.Seed)
	o.Lag = duration(t, d, "lag", 0)
	o.Controller.Limits = reconcile.DefaultConfig()
	scanIf(t, d, "max-uncounted", &o.Controller.Limits.MaxUncounted)
	var qps int32
	scanIf(t, d, "qps", &qps)
	o.QPS = float64(qps)
	o.Latency = duration(t, d, "latency", 0)
	scanIf(t, d, "replace-builtin", &o.Controller.ReplaceBuiltin)
	setFeatures(t, d, &o.Controller.Limits.Features)
	s.begin(o)
	return "ok\n"
}

// gates starts a new controller process with features switched.
func (s *scenario) gates(t *testing.T, d *datadriven.TestData) string {
	f := s.world.Controller.Limits.Features
	setFeatures(t, d, &f)
	s.world.SwitchFeatures(f)
	return "restarted\n"
}

func setFeatures(t *testing.T, d *datadriven.TestData, f *reconcile.Features) {
	for name, feature := range map[string]*bool{
		"PodFailurePolicyName": &f.RuleNames, "JobBackoffLimitPerIndex": &f.BackoffLimitPerIndex,
		"JobPodReplacementPolicy": &f.PodReplacementPolicy, "JobSuccessPolicy": &f.SuccessPolicy,
	} {
		scanIf(t, d, name, feature)
	}
}

func duration(t *testing.T, d *datadriven.TestData, name string, otherwise time.Duration) time.Duration {
	var text string
	if !scanIf(t, d, name, &text) {
		return otherwise
	}
	if text == "forever" {
		return Forever
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

// podName is the pod that a command is about. Without it, most do nothing.
func (s *scenario) podName(t *testing.T, d *datadriven.TestData) string {
	var name string
	d.ScanArgs(t, "name", &name)
	if d.HasArg("after") {
		return s.meant(name)
	}
	s.world.RunUntil(func() bool {
		pod := s.world.Store.pods[s.meant(name)]
		return pod != nil && (pod.Spec.NodeName != "" || s.world.kubelet.act(pod).Unscheduled)
	}, duration(t, d, "wait", s.waitForPods))
	return s.meant(name)
}

// meant is the pod of a name, or any pod that is there now, or one of a generateName.
func (s *scenario) meant(name string) string {
	kind, rest, found := strings.Cut(name, ":")
	switch {
	case !found:
		return s.names.meant(s.world.checker().generated, name)
	case kind == "any":
		names := slices.Sorted(maps.Keys(s.world.Store.pods))
		if len(names) == 0 {
			return ""
		}
		return names[number(rest)%len(names)]
	}
	prefix, place, _ := strings.Cut(rest, ":")
	if list := s.world.checker().generated[prefix]; number(place) < len(list) {
		return list[number(place)]
	}
	return ""
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	must(err)
	return n
}

// podNames are the pods that a file names. Which number a generated name gets depends
// on everything that was created before; that it is the third pod of an index does not.
type podNames map[string]ordinal

// ordinal is the place of a pod among those of one generateName.
type ordinal struct {
	generateName string
	place        int
}

// meant is the name that the pod has in the world with these generated names. The first world
// to be asked for a name settles which pod that is.
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
	if list := generated[o.generateName]; o.place < len(list) {
		return list[o.place]
	}
	return ""
}

// scanIf reads an argument that may be left out; it reports whether it is there.
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

// answer is what a command prints that may be refused.
func (s *scenario) answer(err error) string {
	if err != nil {
		return err.Error() + "\n"
	}
	return s.world.Trace()
}

// job creates a Job from a JobSpec, or from a whole Job.
func (s *scenario) job(t *testing.T, d *datadriven.TestData) string {
	job := &batchv1.Job{}
	if prepared := s.prepared[d]; prepared != nil {
		job = prepared.DeepCopy()
		job.Name = jobName(t, d)
		return s.answer(s.world.createJob(job))
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
	return s.answer(s.world.createJob(job))
}

func (s *scenario) script(t *testing.T, d *datadriven.TestData) string {
	scene := Scene{Index: -1, Act: Act{TerminateExit: 143}}
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
	s.world.AddScene(jobName(t, d), scene)
	return "ok\n"
}

func (s *scenario) runWorld(t *testing.T, d *datadriven.TestData) string {
	name := jobName(t, d)
	limit := duration(t, d, "limit", time.Hour)
	condition := func() bool { return s.world.Finished(name) }
	if d.HasArg("for") {
		limit, condition = duration(t, d, "for", 0), func() bool { return false }
	}
	reached := s.world.RunUntil(condition, limit)
	trace := s.world.Trace()
	if d.HasArg("quiet") {
		trace = onlyStatus(trace)
	}
	if d.HasArg("silent") {
		trace = ""
	}
	if !reached && !d.HasArg("for") {
		trace += "not finished\n"
	}
	return trace + s.condition(name)
}

// onlyStatus keeps the lines that report status writes and what went wrong.
func onlyStatus(trace string) string {
	var out strings.Builder
	for line := range strings.Lines(trace) {
		if strings.Contains(line, "  status ") || strings.Contains(line, "VIOLATION") || strings.Contains(line, "fail") && !strings.Contains(line, "fail pod") {
			out.WriteString(line)
		}
	}
	return out.String()
}

func (s *scenario) condition(name string) string {
	job := s.world.Store.Job(name)
	if job == nil {
		return "no Job\n"
	}
	for _, t := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		if c := trueCondition(job, t); c != nil {
			return fmt.Sprintf("%s: %s (%s)\n", c.Type, c.Reason, c.Message)
		}
	}
	return ""
}

func (s *scenario) status(t *testing.T, d *datadriven.TestData) string {
	job := s.world.Store.Job(jobName(t, d))
	if job == nil {
		return "no Job\n"
	}
	text, err := yaml.Marshal(job.Status)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return string(text)
}

func (s *scenario) pods(t *testing.T, d *datadriven.TestData) string {
	var out strings.Builder
	job := s.world.Store.jobs[jobName(t, d)]
	list := s.world.Store.PodsOf("")
	if !d.HasArg("orphans") {
		if job == nil {
			return "no Job\n"
		}
		list = s.world.Store.PodsOf(job.UID)
	}
	for _, p := range list {
		fmt.Fprintf(&out, "%s %s", p.Name, p.Status.Phase)
		if p.DeletionTimestamp != nil {
			out.WriteString(" deleting")
		}
		if tracked(p) {
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

// findings are those of Compute on the stored state.
func (s *scenario) findings(t *testing.T, d *datadriven.TestData) string {
	job := s.world.Store.Job(jobName(t, d))
	if job == nil {
		return "no Job\n"
	}
	var out strings.Builder
	plan := reconcile.Compute(s.world.observe(job), s.world.Controller.Limits)
	for _, line := range plan.Findings.Lines(s.world.Now()) {
		out.WriteString(line + "\n")
	}
	return out.String()
}

func (s *scenario) edit(t *testing.T, d *datadriven.TestData) string {
	_, err := s.world.Store.EditJob(jobName(t, d), func(job *batchv1.Job) {
		if err := yaml.UnmarshalStrict([]byte(d.Input), &job.Spec); err != nil {
			d.Fatalf(t, "%v", err)
		}
	})
	return s.answer(err)
}

// annotate sets annotations of a Job, or removes those without a value.
func (s *scenario) annotate(t *testing.T, d *datadriven.TestData) string {
	_, err := s.world.Store.EditJob(jobName(t, d), func(job *batchv1.Job) { job.Annotations = changed(job.Annotations, d) })
	return s.answer(err)
}

// changed sets the keys that a command names, apart from its own arguments.
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

func (s *scenario) deleteJob(t *testing.T, d *datadriven.TestData) string {
	propagation := "background"
	scanIf(t, d, "propagation", &propagation)
	how, ok := map[string]metav1.DeletionPropagation{
		"background": metav1.DeletePropagationBackground, "foreground": metav1.DeletePropagationForeground, "orphan": metav1.DeletePropagationOrphan,
	}[propagation]
	if !ok {
		d.Fatalf(t, "unknown propagation %s", propagation)
	}
	return s.answer(s.world.Store.DeleteJob(jobName(t, d), how))
}

// finalize takes somebody's finalizer from a Job.
func (s *scenario) finalize(t *testing.T, d *datadriven.TestData) string {
	var finalizer string
	d.ScanArgs(t, "finalizer", &finalizer)
	s.world.Store.finalizeJob(jobName(t, d), finalizer)
	return s.world.Trace()
}

// quota bounds the pods of the namespace that have not ended.
func (s *scenario) quota(t *testing.T, d *datadriven.TestData) string {
	s.world.Store.quota = -1
	scanIf(t, d, "pods", &s.world.Store.quota)
	s.world.checker().troubled()
	return "ok\n"
}

// foreignStatus writes a status as another controller would.
func (s *scenario) foreignStatus(t *testing.T, d *datadriven.TestData) string {
	job := s.world.Store.Job(jobName(t, d))
	if job == nil {
		return "no Job\n"
	}
	if err := yaml.UnmarshalStrict([]byte(d.Input), &job.Status); err != nil {
		d.Fatalf(t, "%v", err)
	}
	_, err := s.world.Store.UpdateJobStatus(job)
	return s.answer(err)
}

// settle lets an hour pass in which nothing may be written (L3), and nothing may be
// left over afterward (L2, S3).
func (s *scenario) settle(*testing.T, *datadriven.TestData) string {
	if err := s.world.Settle(time.Hour); err != nil {
		return err.Error() + "\n" + s.world.Trace()
	}
	s.world.Trace()
	return "at rest\n"
}
