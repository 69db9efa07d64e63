package beside

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/cases"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/differences"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
)

// action is what a step does.
type action string

const (
	startPods     action = "start all pods"
	startPod      action = "start a pod"
	endPod        action = "end a pod"
	endAll        action = differences.MixedEnds
	succeedAll    action = "all pods succeed" + differences.AtOnce
	failAll       action = "all pods fail" + differences.AtOnce
	disruptPod    action = "a pod fails because of a disruption"
	restartPod    action = "the containers of a pod restart"
	deletePod     action = "delete a pod"
	forceDelete   action = "delete a pod without a grace period"
	deleteAndEnd  action = "delete a pod, which ends by itself"
	evictPod      action = "evict a pod"
	terminatePods action = "the terminating pods end"
	cleanPods     action = "delete the ended pods"
	orphanPod     action = differences.Orphan
	editJob       action = "edit the Job"
	deleteJob     action = "delete the Job"
	recreateJob   action = "delete the Job and create it again"
	deleteNode    action = differences.NodeLost
	crash         action = "our controller crashes"
	handOver      action = "our leader hands over"
	setClock      action = "set the clock of the nodes"
)

// step is one step of a story. On both sides it concerns the same pod.
type step struct {
	action action
	// pick chooses among the pods that the step may concern, by its remainder.
	pick int
	// script says how a pod ends.
	script model.Script
	// edit is the edit of editJob.
	edit model.Edit
	// ahead is how far setClock puts the nodes' clock ahead of the controllers'.
	ahead time.Duration
	// at is the time of the step, the same for both sides.
	at time.Time
}

func (s step) String() string {
	out := string(s.action)
	switch s.action {
	case editJob:
		return fmt.Sprintf("set %s to %d", s.edit.Action, s.edit.Value)
	case endPod, deleteAndEnd, disruptPod:
		out += fmt.Sprintf(" (%d; exit %d, side %d, setup %d, condition %q)", s.pick, s.script.Exit, s.script.SideExit, s.script.SetupExit, s.script.Condition)
	case startPod, restartPod, deletePod, forceDelete, evictPod, orphanPod:
		out += fmt.Sprintf(" (%d)", s.pick)
	case setClock:
		out += fmt.Sprintf(" (ahead by %v)", s.ahead)
	case terminatePods:
		out += fmt.Sprintf(" (exit %d)", s.script.TerminateExit)
	}
	return out
}

// runner is the kind of process of our controller that runs a pair's Job.
type runner int

const (
	steady    runner = iota // one process
	crashing                // one process, which steps kill
	elected                 // two processes that elect a leader, which steps change
	sharded                 // two processes that divide the namespaces, of which steps end the older
	replacing               // one process with --replace-builtin, in a cluster without the built-in controller
)

// story is a random Job, and what happens to it.
type story struct {
	seed uint64
	// job is the Job; its edits and scripts are used by the steps.
	job    *model.Case
	steps  []step
	runner runner
	// ownNode gives the pair a node of its own; unbound pods get their node when they start.
	ownNode, unbound bool
}

// maxDeadline is the longest activeDeadlineSeconds that a story waits for.
const maxDeadline = 25

// newStory returns the story of a seed.
func newStory(seed uint64) *story {
	g := teller{rand.New(rand.NewPCG(seed, 4443)), &story{seed: seed, job: cases.Generate(seed)}}
	if d := g.job.Spec.ActiveDeadlineSeconds; d != nil && *d > maxDeadline {
		g.job.Spec.ActiveDeadlineSeconds = ptr.To(int64(600)) // Never reached.
	}
	g.runner = []runner{steady, steady, crashing, elected}[g.IntN(4)]
	if g.runner == elected && seed%2 == 1 { // Half of them, so that the stories of older seeds stay.
		g.runner = sharded
	}
	if g.runner == steady && seed%3 == 0 {
		g.runner = replacing
	}
	g.unbound = g.IntN(100) < 12
	g.storyOf()
	g.setClocks()
	return g.story
}

// teller makes up the steps of a story.
type teller struct {
	*rand.Rand
	*story
}

// weights has the share of each action among the kubelet's steps.
var weights = []struct {
	action action
	share  int
}{
	{endPod, 30}, {endAll, 6}, {succeedAll, 5}, {failAll, 5}, {disruptPod, 6}, {deletePod, 9}, {forceDelete, 5}, {deleteAndEnd, 4},
	{evictPod, 4}, {terminatePods, 10}, {startPod, 4}, {cleanPods, 3}, {orphanPod, 4}, {recreateJob, 2},
}

func (g teller) storyOf() {
	for range 4 + g.IntN(6) {
		g.steps = append(g.steps, g.step())
	}
	if onFailure := g.job.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure; onFailure {
		for range 1 + g.IntN(3) {
			g.insert(step{action: restartPod, pick: g.IntN(5)})
		}
	}
	for _, e := range g.job.Edits {
		g.insert(g.editStep(e))
	}
	if g.IntN(100) < 8 && !g.unbound {
		g.ownNode = true
		g.insert(step{action: deleteNode})
	}
	switch g.runner {
	case crashing:
		g.insert(step{action: crash})
		g.insert(step{action: crash})
	case elected, sharded:
		g.insert(step{action: handOver})
	}
	g.startPodsBetween()
}

func (g teller) step() step {
	total := 0
	for _, w := range weights {
		total += w.share
	}
	n := g.IntN(total)
	i := slices.IndexFunc(weights, func(w struct {
		action action
		share  int
	}) bool {
		n -= w.share
		return n < 0
	})
	s := step{action: weights[i].action, pick: g.IntN(5), script: g.job.Scripts[g.IntN(len(g.job.Scripts))]}
	if s.action == disruptPod {
		s.script.Condition, s.script.Exit = corev1.DisruptionTarget, 137
	}
	return s
}

// editStep converts a user's action of test/virtual/oracle/cases.
func (g teller) editStep(e model.Edit) step {
	s := step{pick: g.IntN(5), script: g.job.Scripts[g.IntN(len(g.job.Scripts))], edit: e}
	switch e.Action {
	case model.DeleteJob:
		s.action = deleteJob
	case model.DeletePod:
		s.action = deletePod
	case model.EvictPod:
		s.action = evictPod
	case model.CleanFailed, model.CleanSucceeded:
		s.action = cleanPods
	case model.SetDeadline:
		s.action = editJob
		if s.edit.Value > maxDeadline {
			s.edit.Value = 600
		}
	default:
		s.action = editJob
	}
	return s
}

// insert puts a step at a random place.
func (g teller) insert(s step) {
	g.steps = slices.Insert(g.steps, g.IntN(len(g.steps)+1), s)
}

// startPodsBetween lets the pods start before most steps.
func (g teller) startPodsBetween() {
	var steps []step
	for _, s := range g.steps {
		if g.IntN(100) < 70 {
			steps = append(steps, step{action: startPods})
		}
		steps = append(steps, s)
	}
	g.steps = steps
}

// setClocks lets the clock of the nodes be wrong in a sixth of the stories.
func (g teller) setClocks() {
	g.Rand = rand.New(rand.NewPCG(g.seed, 2307)) // So that the other steps of older seeds stay.
	if g.IntN(6) > 0 {
		return
	}
	ahead := []time.Duration{-time.Hour, -15 * time.Second, 0, 12 * time.Second, time.Hour}
	for range 1 + g.IntN(2) {
		g.insert(step{action: setClock, ahead: ahead[g.IntN(len(ahead))]})
	}
}

// mayRestart reports whether steps end processes of our controller.
func (s *story) mayRestart() bool {
	return s.runner == crashing || s.runner == elected || s.runner == sharded
}

// describe returns the Job as YAML.
func (s *story) describe() string {
	text, err := yaml.Marshal(s.job.Spec)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%s  rule names: %q\n", text, s.job.RuleNames)
}
