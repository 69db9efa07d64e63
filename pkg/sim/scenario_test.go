package sim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// TestScenarios runs the files under testdata/scenarios: commands and what they
// print. See testdata/README.md. Rewrite them with -rewrite, and read the diff.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		s := &scenario{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out := s.run(t, d)
			if s.world != nil && len(s.world.Checker.Violations) > 0 {
				t.Errorf("%s: broken invariants:\n%s", d.Pos, strings.Join(s.world.Checker.Violations, "\n"))
			}
			return out
		})
	})
}

// TestScenariosAreReproducible runs every scenario twice with the same seed: the
// whole trace is the same.
func TestScenariosAreReproducible(t *testing.T) {
	run := func(t *testing.T, seed uint64) string {
		w := NewWorld(Options{Seed: seed})
		script := Script{{Index: -1, Act: Act{Run: 300 * time.Millisecond}}, {Index: 1, Attempt: 1, Act: Act{Run: time.Second, Exit: 1}}}
		if err := w.CreateJob("a", indexedSpec(8, 4), script); err != nil {
			t.Fatal(err)
		}
		if !w.RunUntil(func() bool { return w.Finished("a") }, time.Hour) {
			t.Fatal("not finished")
		}
		return w.Trace()
	}
	different := false
	for seed := range uint64(20) {
		first, second := run(t, seed), run(t, seed)
		if first != second {
			t.Fatalf("seed %d:\n%s\nand then\n%s", seed, first, second)
		}
		different = different || first != run(t, seed+1)
	}
	if !different {
		t.Error("the seed changes nothing")
	}
}

func indexedSpec(completions, parallelism int32) batchv1.JobSpec {
	mode := batchv1.IndexedCompletion
	return batchv1.JobSpec{CompletionMode: &mode, Completions: &completions, Parallelism: &parallelism}
}

// scenario is one file's world.
type scenario struct{ world *World }

func (s *scenario) run(t *testing.T, d *datadriven.TestData) string {
	if s.world == nil && d.Cmd != "world" {
		s.world = NewWorld(Options{Seed: 1})
	}
	command, ok := map[string]func(*testing.T, *datadriven.TestData) string{
		"world": s.newWorld, "job": s.job, "script": s.script, "run": s.runWorld, "status": s.status, "pods": s.pods,
		"findings": s.findings, "edit": s.edit, "delete-pod": s.deletePod, "delete-job": s.deleteJob, "restart": s.restart,
		"fault": s.fault, "status-by-others": s.foreignStatus, "strip": s.strip, "unlabel": s.unlabel, "settle": s.settle,
	}[d.Cmd]
	if !ok {
		d.Fatalf(t, "unknown command %s", d.Cmd)
	}
	return command(t, d)
}

func (s *scenario) newWorld(t *testing.T, d *datadriven.TestData) string {
	o := Options{Seed: 1}
	scanIf(t, d, "seed", &o.Seed)
	o.Lag = duration(t, d, "lag", 0)
	o.Controller.Limits = reconcile.DefaultConfig()
	scanIf(t, d, "max-uncounted", &o.Controller.Limits.MaxUncounted)
	s.world = NewWorld(o)
	return "ok\n"
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

func (s *scenario) job(t *testing.T, d *datadriven.TestData) string {
	var spec batchv1.JobSpec
	if err := yaml.UnmarshalStrict([]byte(d.Input), &spec); err != nil {
		return err.Error() + "\n"
	}
	name := jobName(t, d)
	if err := s.world.CreateJob(name, spec, s.world.kubelet.scripts[name]); err != nil {
		return err.Error() + "\n"
	}
	return s.world.Trace()
}

func (s *scenario) script(t *testing.T, d *datadriven.TestData) string {
	scene := Scene{Index: -1, Act: Act{TerminateExit: 143}}
	scanIf(t, d, "index", &scene.Index)
	scanIf(t, d, "attempt", &scene.Attempt)
	scanIf(t, d, "exit", &scene.Act.Exit)
	scanIf(t, d, "terminate-exit", &scene.Act.TerminateExit)
	scene.Act.Run = duration(t, d, "run", 0)
	scene.Act.Terminate = duration(t, d, "terminate", 0)
	scene.Act.Unscheduled = d.HasArg("unscheduled")
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

// onlyStatus keeps the lines that tell of status writes and of what went wrong.
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
	for _, c := range job.Status.Conditions {
		if Finished(job) && c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
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
	for _, p := range s.world.Store.PodsOf(s.world.Store.jobs[jobName(t, d)].UID) {
		fmt.Fprintf(&out, "%s %s", p.Name, p.Status.Phase)
		if p.DeletionTimestamp != nil {
			out.WriteString(" deleting")
		}
		if tracked(p) {
			out.WriteString(" tracked")
		}
		out.WriteString("\n")
	}
	return out.String()
}

// findings are those of Compute on the stored state.
func (s *scenario) findings(t *testing.T, d *datadriven.TestData) string {
	job := s.world.Store.Job(jobName(t, d))
	o := reconcile.Observation{Job: job, Now: s.world.Now()}
	for _, pod := range s.world.Store.PodsOf(job.UID) {
		p := observe.Pod(pod)
		o.Pods = append(o.Pods, &p)
	}
	var out strings.Builder
	for _, f := range reconcile.Compute(o, reconcile.DefaultConfig()).Findings {
		out.WriteString(string(f.Kind))
		for name, value := range map[string]any{"pod": f.Pod} {
			if value != "" {
				fmt.Fprintf(&out, " %s=%v", name, value)
			}
		}
		if f.Reason != "" {
			fmt.Fprintf(&out, " reason=%s", f.Reason)
		}
		if f.Count != 0 || f.Limit != 0 {
			fmt.Fprintf(&out, " count=%d limit=%d", f.Count, f.Limit)
		}
		if !f.Until.IsZero() {
			fmt.Fprintf(&out, " until=+%v", f.Until.Sub(s.world.Now()))
		}
		if f.Message != "" {
			fmt.Fprintf(&out, " (%s)", f.Message)
		}
		out.WriteString("\n")
	}
	return out.String()
}

func (s *scenario) edit(t *testing.T, d *datadriven.TestData) string {
	_, err := s.world.Store.EditJob(jobName(t, d), func(spec *batchv1.JobSpec) {
		if err := yaml.UnmarshalStrict([]byte(d.Input), spec); err != nil {
			d.Fatalf(t, "%v", err)
		}
	})
	if err != nil {
		return err.Error() + "\n"
	}
	return s.world.Trace()
}

func (s *scenario) deletePod(t *testing.T, d *datadriven.TestData) string {
	var name string
	d.ScanArgs(t, "name", &name)
	if _, err := s.world.Store.DeletePod(name, ""); err != nil {
		return err.Error() + "\n"
	}
	return s.world.Trace()
}

func (s *scenario) deleteJob(t *testing.T, d *datadriven.TestData) string {
	if err := s.world.Store.DeleteJob(jobName(t, d)); err != nil {
		return err.Error() + "\n"
	}
	return s.world.Trace()
}

func (s *scenario) restart(*testing.T, *datadriven.TestData) string {
	s.world.Restart()
	return "restarted\n"
}

// fault makes the next call of a verb go wrong, or all of them.
func (s *scenario) fault(t *testing.T, d *datadriven.TestData) string {
	var verb, kind string
	d.ScanArgs(t, "verb", &verb)
	d.ScanArgs(t, "kind", &kind)
	fault, ok := map[string]Fault{"crash-before": CrashBefore, "crash-after": CrashAfter, "lose-response": LoseResponse, "fail": Fail, "none": NoFault}[kind]
	if !ok {
		d.Fatalf(t, "unknown fault %s", kind)
	}
	always := d.HasArg("always")
	s.world.Fault = func(c Call) Fault {
		if !strings.HasPrefix(c.Verb, verb) {
			return NoFault
		}
		if !always {
			s.world.Fault = nil
		}
		return fault
	}
	return "ok\n"
}

// foreignStatus writes a status as another controller would.
func (s *scenario) foreignStatus(t *testing.T, d *datadriven.TestData) string {
	job := s.world.Store.Job(jobName(t, d))
	if err := yaml.UnmarshalStrict([]byte(d.Input), &job.Status); err != nil {
		d.Fatalf(t, "%v", err)
	}
	if _, err := s.world.Store.UpdateJobStatus(job); err != nil {
		return err.Error() + "\n"
	}
	return s.world.Trace()
}

// strip takes the tracking finalizer from a pod, as a user might.
func (s *scenario) strip(t *testing.T, d *datadriven.TestData) string {
	var name string
	d.ScanArgs(t, "name", &name)
	s.world.Store.EditPod("strip", name, func(p *corev1.Pod) { p.Finalizers = nil })
	return s.world.Trace()
}

// unlabel takes all labels from a pod, as a user might.
func (s *scenario) unlabel(t *testing.T, d *datadriven.TestData) string {
	var name string
	d.ScanArgs(t, "name", &name)
	s.world.Store.EditPod("unlabel", name, func(p *corev1.Pod) { p.Labels = nil })
	return s.world.Trace()
}

// settle lets an hour pass in which nothing may be written (L3).
func (s *scenario) settle(*testing.T, *datadriven.TestData) string {
	if err := s.world.Settle(time.Hour); err != nil {
		return err.Error() + "\n" + s.world.Trace()
	}
	s.world.Trace()
	return "at rest\n"
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
