package simulate

import (
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// maxScenes is how many indexes the --pods flags may name one by one: each pod is held against all.
const maxScenes = 1000

// defaultAct is that of pods that no --pods flag is about.
func defaultAct() sim.Act { return sim.Act{Run: time.Second, TerminateExit: 143} }

// podsFlag is a --pods flag, with a scene for each index that it names.
type podsFlag struct {
	text   string
	scenes sim.Script
}

// parsePodsFlags reads the --pods flags.
func parsePodsFlags(texts []string) ([]podsFlag, error) {
	var flags []podsFlag
	total := 0
	for _, text := range texts {
		scenes, err := parseScene(text)
		if err != nil {
			return nil, err
		}
		if total += len(scenes); total >= maxScenes {
			return nil, cmdutil.UsageErrorf("--pods: more than %d indexes; omit index to match all of them", maxScenes-1)
		}
		flags = append(flags, podsFlag{text, scenes})
	}
	return flags, nil
}

// parseScene reads one flag, such as index=0-4,attempt=1,exit=42.
func parseScene(text string) (sim.Script, error) {
	indexes := []int32{-1}
	scene := sim.Scene{Act: defaultAct()}
	for word := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(word, "=")
		var err error
		if key == "index" {
			indexes, err = sceneIndexes(value)
		} else {
			err = setScene(&scene, key, value)
		}
		if err != nil {
			return nil, cmdutil.UsageErrorf("--pods=%s: %s: %v", text, word, err)
		}
	}
	var scenes sim.Script
	for _, index := range indexes {
		scene.Index = index
		scenes = append(scenes, scene)
	}
	return scenes, nil
}

func sceneIndexes(value string) ([]int32, error) {
	set, err := indexset.Parse(value)
	if err != nil {
		return nil, err
	}
	if set.Len() == 0 || set.Len() >= maxScenes {
		return nil, cmdutil.UsageErrorf("must be an index or a range such as 3-7, with fewer than %d indexes", maxScenes)
	}
	var indexes []int32
	for index := range set.All() {
		indexes = append(indexes, index)
	}
	return indexes, nil
}

func setScene(scene *sim.Scene, key, value string) (err error) {
	act := &scene.Act
	switch key {
	case "attempt":
		scene.Attempt, err = sceneNumber(value, 1)
	case "exit":
		var code int
		code, err = sceneNumber(value, 0)
		act.Exit = int32(code)
	case "sidecars":
		var code int
		code, err = sceneNumber(value, 0)
		act.SidecarExit = int32(code)
	case "container":
		act.Container = value
	case "run":
		act.Run, err = sceneDuration(value)
	case "terminate":
		act.Terminate, err = sceneDuration(value)
	case "disrupted":
		act.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "Simulated"}}
		if act.Exit == 0 {
			act.Exit = 143
		}
	default:
		return cmdutil.UsageErrorf("unknown; use index, attempt, exit, container, sidecars, run, terminate, disrupted")
	}
	return err
}

// sceneNumber reads a number from least on; exit codes are never above 255.
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
