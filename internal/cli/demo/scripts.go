package demo

import (
	"bytes"
	_ "embed" // the manifests
	"errors"
	"fmt"
	"io"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

//go:embed jobs.yaml
var manifests []byte

// script is the behavior and the log of a Job's pods.
type script struct {
	behavior behavior
	// line returns line n of a pod's log, one for each second; failure is the last output of a failing container.
	line    func(index int32, n int) string
	failure []string
}

// behavior is a sim.Behavior that is a function.
type behavior func(sim.PodKey) sim.Act

// Act implements sim.Behavior.
func (a behavior) Act(pod sim.PodKey) *sim.Act {
	act := a(pod)
	return &act
}

// scripts returns the scripts by name of the Job.
func scripts() map[string]script {
	return map[string]script{
		"train":          {train, loss, []string{"config error: learning_rate must be above 0", "exit 42"}},
		"sweep":          {sweep, residual, []string{"allocating 2.3 GiB for the refined mesh"}},
		"render":         {render, frame, nil},
		"mpi":            {mpi, residual, nil},
		"import":         {importing, batch, []string{"panic: dial tcp: lookup warehouse.example: no such host"}},
		"montecarlo":     {montecarlo, batch, []string{"sample is not finite, giving up"}},
		"finetune":       {func(sim.PodKey) sim.Act { return sim.Act{Unscheduled: true} }, loss, nil},
		"nightly-report": {func(sim.PodKey) sim.Act { return sim.Act{Run: 5 * time.Second} }, batch, nil},
	}
}

// train is preempted, which does not count, and then ends by the rule BadConfig. Its retry succeeds.
func train(pod sim.PodKey) sim.Act {
	act := sim.Act{Delay: time.Second, Run: 90 * time.Second, TerminateExit: 143, Terminate: 2 * time.Second}
	switch {
	case pod.Index == 1 && pod.Nth == 1:
		act.Run, act.Exit, act.Conditions = 12*time.Second, 143, disrupted("PreemptionByScheduler")
	case pod.Index == 2 && pod.Nth < ofRetry:
		act.Run, act.Exit = 40*time.Second, 42
	}
	return act
}

// sweep has three indexes that fail for good, and one that succeeds at the second attempt. In a retry, one fails again.
func sweep(pod sim.PodKey) sim.Act {
	act := sim.Act{Delay: 500 * time.Millisecond, Run: vary(pod, 4, 8)}
	switch {
	case pod.Index == 7, pod.Nth < ofRetry && (pod.Index == 23 || pod.Index == 41), pod.Index == 12 && pod.Nth == 1:
		act.Ends = []sim.ContainerEnd{{Name: "solver", Exit: 137, Reason: "OOMKilled"}}
	}
	return act
}

// render has a pod that is evicted, takes long to terminate, and is replaced only after that.
func render(pod sim.PodKey) sim.Act {
	act := sim.Act{Run: 14 * time.Second, TerminateExit: 143, Terminate: 45 * time.Second}
	if pod.Nth <= 3 {
		act.Run = 50 * time.Second
	}
	return act
}

// evictedJob loses a pod evictedAfter the start.
const (
	evictedJob   = "render"
	evictedAfter = 6 * time.Second
)

// mpi completes when rank 0 does.
func mpi(pod sim.PodKey) sim.Act {
	act := sim.Act{Run: 10 * time.Minute, TerminateExit: 143, Terminate: 8 * time.Second}
	if pod.Index == 0 {
		act.Run = 30 * time.Second
	}
	return act
}

// importing fails until its backoffLimit. Its retry succeeds.
func importing(pod sim.PodKey) sim.Act {
	if pod.Nth >= ofRetry {
		return sim.Act{Run: 8 * time.Second}
	}
	return sim.Act{Run: 3 * time.Second, Exit: 1}
}

// montecarlo is large; one pod in 97 fails.
func montecarlo(pod sim.PodKey) sim.Act {
	act := sim.Act{Delay: vary(pod, 0, 1), Run: vary(pod, 2, 5)}
	if (int(pod.Index)*31+pod.Nth*7)%97 == 0 {
		act.Exit = 2
	}
	return act
}

// vary returns a pseudorandom duration of least to most seconds.
func vary(pod sim.PodKey, least, most int64) time.Duration {
	mixed := (uint64(pod.Index+1)*2654435761 + uint64(pod.Nth)*40503) >> 7                                    // an index is not negative
	return time.Duration(least)*time.Second + time.Duration(mixed%uint64((most-least)*1000))*time.Millisecond // most is above least
}

func disrupted(reason string) []corev1.PodCondition {
	return []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason}}
}

func loss(_ int32, n int) string {
	return fmt.Sprintf("step %d loss %.3f", n*50, 0.4+2.4/float64(n+1))
}

func residual(index int32, n int) string {
	return fmt.Sprintf("case %d iteration %d residual %.2e", index, n*10, 1/float64((n+1)*(n+2)))
}

func frame(_ int32, n int) string { return fmt.Sprintf("tile %d of 256 rendered", n*16) }

func batch(_ int32, n int) string { return fmt.Sprintf("batch %d read", n) }

// jobs returns the Jobs of the manifests.
func jobs() (all []*batchv1.Job, err error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096)
	for {
		job := &batchv1.Job{}
		if err := decoder.Decode(job); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("the manifests of the demo: %w", err)
		}
		all = append(all, job)
	}
}
