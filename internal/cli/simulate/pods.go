package simulate

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
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
	attempt int32

	container           string // "" for all but init containers
	exit, sidecars      int32
	run, terminate      time.Duration
	runGiven, disrupted bool

	matched bool // the flag matched a pod
}

// parsePodsFlags parses the --pods flags, such as index=0-4,attempt=1,exit=42.
func parsePodsFlags(texts []string) ([]*podsFlag, error) {
	var flags []*podsFlag
	for _, text := range texts {
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
		flags = append(flags, f)
	}
	return flags, nil
}

func (f *podsFlag) set(key, value string) (err error) {
	switch key {
	case "index":
		f.indexes, err = indexset.Parse(value)
		if err == nil && f.indexes.IsEmpty() {
			err = cmdutil.UsageErrorf("must be an index or a range such as 3-7")
		}
	case "attempt":
		f.attempt, err = parseNumber(value, 1)
	case "exit":
		f.exit, err = parseNumber(value, 0)
	case "sidecars":
		f.sidecars, err = parseNumber(value, 0)
	case "container":
		f.container = value
	case "run":
		f.run, err = parseDuration(value)
		f.runGiven = true
	case "terminate":
		f.terminate, err = parseDuration(value)
	case "disrupted":
		f.disrupted = true
	default:
		return cmdutil.UsageErrorf("unknown; use index, attempt, exit, container, sidecars, run, terminate, disrupted")
	}
	return err
}

// parseNumber parses a number from least to 255, the largest exit code.
func parseNumber(value string, least int32) (int32, error) {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < int64(least) || n > 255 {
		return 0, cmdutil.UsageErrorf("must be a number between %d and 255", least)
	}
	return int32(n), nil
}

func parseDuration(value string) (time.Duration, error) {
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
	return (f.indexes.IsEmpty() || f.indexes.Contains(pod.Index)) && (f.attempt == 0 || int(f.attempt) == pod.Attempt)
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

// validatePodsFrom determines whether --from names a Job or a file.
func (o *Options) validatePodsFrom() error {
	if info, err := os.Stat(o.source.Name); err == nil && info.Mode().IsRegular() {
		o.source.Name, o.source.File = "", o.source.Name
	}
	if o.source.Name == "" {
		return nil
	}
	names, err := cmdutil.ParseJobArgs([]string{o.source.Name})
	if err == nil {
		o.source.Name = names[0]
	}
	return err
}

// behavior returns the pods' behavior from the flags; --pods takes precedence over --from.
func (o *Options) behavior(ctx context.Context, job *batchv1.Job) (sim.Behavior, error) {
	pods := flaggedPods{flags: o.podsFlags, init: map[string]bool{}, rest: sim.Script{{Index: -1, Act: *defaultAct()}}}
	for i := range job.Spec.Template.Spec.InitContainers {
		pods.init[job.Spec.Template.Spec.InitContainers[i].Name] = true
	}
	if o.source.Name == "" && o.source.File == "" {
		return pods, nil
	}
	history, err := o.source.Read(ctx)
	if err == nil {
		pods.rest = history.Model
	}
	return pods, err
}
