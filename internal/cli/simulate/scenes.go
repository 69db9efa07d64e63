package simulate

import (
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// defaultRun is the default run time of a container.
const defaultRun = time.Second

// podsFlag is a parsed --pods flag.
type podsFlag struct {
	text string

	// indexes and attempt select pods; an empty indexes selects all, and so does an attempt of 0.
	indexes indexset.Set
	attempt int

	container           string // "" for all but init containers
	exit, sidecars      int32
	run, terminate      time.Duration
	runGiven, disrupted bool

	matched bool // the flag matched a pod
}

// parsePodsFlags parses the --pods flags.
func parsePodsFlags(texts []string) ([]*podsFlag, error) {
	var flags []*podsFlag
	for _, text := range texts {
		flag, err := parsePodsFlag(text)
		if err != nil {
			return nil, err
		}
		flags = append(flags, flag)
	}
	return flags, nil
}

// parsePodsFlag parses one flag, such as index=0-4,attempt=1,exit=42.
func parsePodsFlag(text string) (*podsFlag, error) {
	f := &podsFlag{text: text, run: defaultRun}
	for word := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(word, "=")
		if err := f.set(key, value); err != nil {
			return nil, cmdutil.UsageErrorf("--pods=%s: %s: %v", text, word, err)
		}
	}
	if f.disrupted && f.exit == 0 {
		f.exit = 143
	}
	return f, nil
}

func (f *podsFlag) set(key, value string) (err error) {
	switch key {
	case "index":
		f.indexes, err = parseIndexes(value)
	case "attempt":
		f.attempt, err = sceneNumber(value, 1)
	case "exit":
		f.exit, err = exitCode(value)
	case "sidecars":
		f.sidecars, err = exitCode(value)
	case "container":
		f.container = value
	case "run":
		f.run, err = sceneDuration(value)
		f.runGiven = true
	case "terminate":
		f.terminate, err = sceneDuration(value)
	case "disrupted":
		f.disrupted = true
	default:
		return cmdutil.UsageErrorf("unknown; use index, attempt, exit, container, sidecars, run, terminate, disrupted")
	}
	return err
}

func parseIndexes(value string) (indexset.Set, error) {
	set, err := indexset.Parse(value)
	if err == nil && set.IsEmpty() {
		err = cmdutil.UsageErrorf("must be an index or a range such as 3-7")
	}
	return set, err
}

func exitCode(value string) (int32, error) {
	code, err := sceneNumber(value, 0)
	return int32(code), err
}

// sceneNumber parses a number from least to 255, the largest exit code.
func sceneNumber(value string, least int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > 255 {
		return 0, cmdutil.UsageErrorf("must be a number between %d and 255", least)
	}
	return n, nil
}

func sceneDuration(value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 {
		return 0, cmdutil.UsageErrorf("must be a duration such as 30s or 2h")
	}
	return d, nil
}

// flaggedPods is the behavior of pods that --pods flags define; other pods follow rest.
type flaggedPods struct {
	flags []*podsFlag
	// init contains the names of init containers.
	init map[string]bool
	rest sim.Behavior
}

// Act implements sim.Behavior. The last flag that matches the attempt applies, followed by later flags that name a
// container.
func (p flaggedPods) Act(pod sim.PodKey) *sim.Act {
	var act *sim.Act
	for _, flag := range p.flags {
		if flag.matches(pod) {
			flag.matched = true
			act = p.apply(flag, act)
		}
	}
	if act == nil {
		return p.rest.Act(pod)
	}
	return act
}

func (f *podsFlag) matches(pod sim.PodKey) bool {
	return (f.indexes.IsEmpty() || f.indexes.Contains(pod.Index)) && (f.attempt == 0 || f.attempt == pod.Attempt)
}

// apply returns the act of a pod with this flag applied to act, the act after earlier flags; act may be nil.
func (p flaggedPods) apply(flag *podsFlag, act *sim.Act) *sim.Act {
	if act == nil || flag.container == "" {
		act = defaultAct()
	}
	if flag.container == "" {
		act.Run, act.Exit, act.SidecarExit = flag.run, flag.exit, flag.sidecars
	} else {
		end := sim.ContainerEnd{Name: flag.container, Exit: flag.exit, Run: flag.run}
		if p.init[flag.container] && !flag.runGiven {
			end.Run = 0
		}
		act.Ends = append(act.Ends, end)
		act.SidecarExit = max(act.SidecarExit, flag.sidecars)
	}
	act.Terminate = max(act.Terminate, flag.terminate)
	if flag.disrupted {
		act.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "Simulated"}}
	}
	return act
}

// defaultAct returns the act of a pod without --pods flags.
func defaultAct() *sim.Act { return &sim.Act{Run: defaultRun, TerminateExit: 143, Restarting: true} }
