package storm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/datadriven"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/cases"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// stormMaker draws the parts of a storm.
type stormMaker struct {
	*rand.Rand
	storm *randomStorm
	// within is the time in which actions and faults occur.
	within time.Duration
}

// newStorm returns the storm of a seed, with the Jobs of one of the files, or random Jobs.
func newStorm(seed uint64, files []stormFile) *randomStorm {
	m := stormMaker{Rand: rand.New(rand.NewPCG(seed, 31)), storm: &randomStorm{seed: seed}}
	m.within = scenario.Pick(m.Rand, 10*time.Second, 30*time.Second, time.Minute, 3*time.Minute)
	m.storm.world = scenario.Command("world", "seed="+strconv.FormatUint(seed, 10))
	if m.IntN(3) == 0 {
		file := files[m.IntN(len(files))]
		m.storm.file, m.storm.body = file.name, file.body
		m.storm.world.CmdArgs = append(m.storm.world.CmdArgs, file.world...)
	} else {
		m.world()
		for i := range 1 + m.IntN(3)/2 {
			m.storm.jobs = append(m.storm.jobs, stormJob{string(rune('a' + i)), cases.Generate(m.Uint64())})
		}
	}
	if m.IntN(4) > 0 {
		m.storm.dice = m.newDice()
	}
	m.trouble()
	return m.storm
}

// world draws the delays and limits of the world.
func (m stormMaker) world() {
	args := []string{
		scenario.Pick(m.Rand, "", "", "lag=1ms", "lag=500ms", "lag=2s"), scenario.Pick(m.Rand, "", "", "latency=1ms", "latency=200ms"),
		scenario.Pick(m.Rand, "", "", "", "", "max-uncounted=1", "max-uncounted=2"), scenario.Pick(m.Rand, "", "", "", "", "", "qps=5", "qps=20"),
	}
	m.storm.world.CmdArgs = append(m.storm.world.CmdArgs, scenario.Command("world", args...).CmdArgs...)
}

// at returns an argument that delays a command until a random time of the storm.
func (m stormMaker) at() string {
	return fmt.Sprintf("after=%v", time.Duration(m.Int64N(int64(m.within))).Round(time.Millisecond))
}

func (m stormMaker) seconds(most int) string {
	return (time.Duration(m.IntN(most*1000)) * time.Millisecond).String()
}

func (m stormMaker) add(name string, args ...string) {
	m.storm.actions = append(m.storm.actions, scenario.Command(name, args...))
}

// trouble draws actions. All of them are rare, so that most storms have only a few kinds.
func (m stormMaker) trouble() {
	for range m.IntN(4) {
		m.processes()
	}
	for range m.IntN(3) {
		m.servers()
	}
	for range scenario.Pick(m.Rand, 0, 0, 1, 2, 5) {
		m.users()
	}
	if m.IntN(3) == 0 {
		for range 1 + m.IntN(6) {
			m.pods()
		}
	}
}

// process draws the arguments of a new process.
func (m stormMaker) process() (args []string) {
	if m.IntN(3) == 0 {
		args = append(args, "lag="+m.seconds(4))
	}
	if m.IntN(4) == 0 {
		args = append(args, fmt.Sprintf("clock=%ds", m.IntN(120)-60))
	}
	if m.IntN(3) == 0 {
		old := m.seconds(5)
		args = append(args, "jobs-older="+old)
		if m.IntN(2) == 0 {
			args = append(args, "pods-older="+old)
		}
	}
	return args
}

// processes draws actions on the controller's processes.
func (m stormMaker) processes() {
	switch m.IntN(7) {
	case 0, 1:
		m.add("restart", append(m.process(), m.at())...)
	case 2, 3:
		m.add("second-leader", append(m.process(), m.at())...)
		if m.IntN(2) == 0 {
			m.add("one-leader", m.at())
		}
	case 4:
		for range 1 + m.IntN(4) {
			overlap := m.seconds(20)
			if m.IntN(3) == 0 && overlap != "0s" {
				overlap = "-" + overlap
			}
			m.add("reshard", fmt.Sprintf("count=%d", 1+m.IntN(4)), "overlap="+overlap, m.at())
		}
	case 5:
		m.add("clock", fmt.Sprintf("offset=%ds", m.IntN(120)-60), m.at())
	case 6:
		gates := []string{"JobPodReplacementPolicy", "JobSuccessPolicy", "PodFailurePolicyName"}
		if m.storm.file == "" { // An index of a file may fail forever without its limit.
			gates = append(gates, "JobBackoffLimitPerIndex")
		}
		m.add("gates", scenario.Pick(m.Rand, gates...)+"="+scenario.Pick(m.Rand, "true", "false"), m.at())
	}
}

// servers draws actions of the API server and of the controllers in it.
func (m stormMaker) servers() {
	switch m.IntN(5) {
	case 0:
		m.add("outage", "for="+m.seconds(300), m.at())
	case 1:
		m.add("relist", scenario.Pick(m.Rand, "", "jobs", "pods"), "gap="+m.seconds(5), "stale="+m.seconds(2), m.at())
	case 2:
		for range 1 + m.IntN(4) {
			m.add("quota", fmt.Sprintf("pods=%d", m.IntN(4)), m.at())
		}
		m.add("quota", "after="+m.within.String())
	case 3:
		m.add("reject", "verb="+scenario.Pick(m.Rand, "create", "delete", "release", "status"), "for="+m.seconds(60), m.at())
	case 4:
		m.add("fault", "verb="+scenario.Pick(m.Rand, "create", "delete", "release", "status"), "kind="+scenario.Pick(m.Rand, "conflict", "malformed", "misrouted", "fail", "throttle", "timeout"), "for="+m.seconds(60), m.at())
	}
}

func (m stormMaker) job() string {
	if n := len(m.storm.jobs); n > 1 {
		return "job=" + m.storm.jobs[m.IntN(n)].name
	}
	return "job=a"
}

// users draws actions of users on Jobs.
func (m stormMaker) users() {
	job := m.job()
	switch m.IntN(10) {
	case 0, 1:
		m.edit(job, fmt.Sprintf("parallelism: %d", m.IntN(6)))
	case 2, 3:
		n := m.IntN(8)
		m.edit(job, fmt.Sprintf("completions: %d\nparallelism: %d", n, n))
	case 4, 5:
		m.edit(job, "suspend: true")
		m.edit(job, "suspend: false")
	case 6:
		m.edit(job, fmt.Sprintf("activeDeadlineSeconds: %d", m.IntN(100)))
	case 7:
		m.edit(job, fmt.Sprintf("backoffLimit: %d", m.IntN(4)))
	case 8:
		m.add("annotate", job, model.RuleNames+"="+scenario.Pick(m.Rand, "", "0=A", "x", "1=B"), m.at())
	case 9:
		m.add("delete-job", job, "propagation="+scenario.Pick(m.Rand, "background", "foreground", "orphan"), m.at())
	}
}

func (m stormMaker) edit(job, text string) {
	m.storm.actions = append(m.storm.actions, scenario.WithInput(scenario.Command("edit", job, m.at()), text))
}

// pods draws actions on pods.
func (m stormMaker) pods() {
	pod := fmt.Sprintf("name=any:%d", m.IntN(12))
	switch m.IntN(8) {
	case 0, 1:
		m.add("evict", pod, m.at())
	case 2, 3:
		m.add("delete-pod", pod, m.at())
	case 4:
		m.add("delete-pod", pod, "force", m.at())
	case 5:
		m.add("node-deleted", pod, m.at())
	case 6:
		m.add("node-back", pod, m.at())
	case 7:
		m.tamper(pod)
	}
}

// tamper draws actions that require all permissions.
func (m stormMaker) tamper(pod string) {
	switch m.IntN(6) {
	case 0:
		m.add("strip", pod, m.at())
	case 1:
		m.add("orphan-pod", pod, m.at())
	case 2:
		m.add("unlabel", pod, m.at())
	case 3:
		m.add("annotate-pod", pod, batchv1.JobCompletionIndexAnnotation+"="+scenario.Pick(m.Rand, "0", "1", "7", "-1", "x", ""), m.at())
	case 4:
		m.add("annotate-pod", pod, batchv1.JobIndexFailureCountAnnotation+"="+scenario.Pick(m.Rand, "0", "5", "-1", "99999999999", ""), m.at())
	case 5:
		m.add("phase", pod, "phase="+scenario.Pick(m.Rand, "Succeeded", "Failed"), scenario.Pick(m.Rand, "", "exit=0", "exit=42"), m.at())
	}
}

// caseCommands returns the commands for the pods and users of a random Job.
func caseCommands(j stormJob) (out []*datadriven.TestData) {
	name := "job=" + j.name
	out = append(out, scenario.Command("script", name, "run=2s", "terminate=2s"))
	for i := range j.Scripts {
		out = append(out, sceneCommand(name, &j.Scripts[i]))
	}
	if j.Held {
		out = append(out, scenario.Command("finalize", name, "finalizer="+model.Holder, "after=20m"))
	}
	for _, e := range j.Edits {
		out = append(out, editCommand(name, e))
	}
	return out
}

// manifest returns the YAML of a Job for a scenario file.
func manifest(job *batchv1.Job) string {
	text, err := yaml.Marshal(map[string]any{"metadata": job.ObjectMeta, "spec": job.Spec})
	scenario.Must(err)
	return string(text)
}

func sceneCommand(job string, s *model.Script) *datadriven.TestData {
	args := []string{job, fmt.Sprintf("index=%d", s.Index), fmt.Sprintf("nth=%d", s.Nth)}
	run := s.Run.String()
	if s.Run == model.Forever {
		run = "forever"
	}
	args = append(args, "run="+run)
	for name, value := range map[string]int32{"init-exit": s.SetupExit, "restarts": s.Restarts} {
		if value != 0 {
			args = append(args, fmt.Sprintf("%s=%d", name, value))
		}
	}
	slices.Sort(args[4:])
	if s.Restarts > 0 {
		args = append(args, "restarts-after="+s.RestartsAfter.String())
	}
	if s.Exit != 0 || s.SideExit != 0 {
		args = append(args, "container=main", fmt.Sprintf("exit=%d", s.Exit), fmt.Sprintf("other-exit=%d", s.SideExit))
	}
	if s.Condition != "" {
		args = append(args, "condition="+string(s.Condition))
	}
	args = append(args, "terminate="+s.Terminate.String(), fmt.Sprintf("terminate-exit=%d", s.TerminateExit))
	for name, is := range map[string]bool{"unscheduled": s.Unscheduled, "node-gone": s.Lost} {
		if is {
			args = append(args, name)
		}
	}
	return scenario.Command("script", args...)
}

// editCommand returns the command for a user's action on a random Job.
func editCommand(job string, e model.Edit) *datadriven.TestData {
	at := "after=" + e.At.String()
	pod := fmt.Sprintf("name=any:%d", max(e.Value, 0))
	switch e.Action {
	case model.DeleteJob:
		return scenario.Command("delete-job", job, at)
	case model.DeletePod, model.CleanFailed, model.CleanSucceeded:
		return scenario.Command("delete-pod", pod, at)
	case model.EvictPod:
		return scenario.Command("evict", pod, at)
	}
	var spec batchv1.JobSpec
	e.Change(&spec)
	fields := map[string]any{}
	text, err := yaml.Marshal(spec)
	scenario.Must(err)
	scenario.Must(yaml.Unmarshal(text, &fields))
	delete(fields, "template")
	if e.Action == model.SetDeadline && e.Value < 0 {
		fields["activeDeadlineSeconds"] = nil
	}
	text, err = yaml.Marshal(fields)
	scenario.Must(err)
	return scenario.WithInput(scenario.Command("edit", job, at), strings.TrimSpace(string(text)))
}
