package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	kubemetrics "k8s.io/component-base/metrics"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/metrics"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
)

func (s *Runner) begin(o sim.Options) {
	if s.World != nil && s.worldEnds != nil {
		s.worldEnds()
	}
	s.scripted, s.scriptedWatch, s.Delivered = nil, map[int]sim.WatchFault{}, 0
	o.Fault, o.WatchFault = s.faultOf, s.watchFaultOf
	o.Seed += s.Options.Seed
	o.Successor = s.Options.Successor
	s.World = checker.NewWorldWith(s.Checks, o)
	if s.begun != nil {
		s.begun(s.World)
	}
}

func (s *Runner) newWorld(t *testing.T, d *datadriven.TestData) string {
	o := sim.Options{Seed: 1}
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
	if s.registry = nil; d.HasArg("metrics") {
		s.registry = kubemetrics.NewKubeRegistry()
		o.Controller.Metrics = metrics.New(s.registry, clock.RealClock{})
	}
	s.begin(o)
	return "ok\n"
}

// gates starts a new controller process with changed features.
func (s *Runner) gates(t *testing.T, d *datadriven.TestData) string {
	f := s.World.Controller.Limits.Features
	setFeatures(t, d, &f)
	s.World.SwitchFeatures(f)
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

func (s *Runner) runWorld(t *testing.T, d *datadriven.TestData) string {
	name := jobName(t, d)
	limit := duration(t, d, "limit", time.Hour)
	condition := func() bool { return s.World.Finished(name) }
	if d.HasArg("for") {
		limit, condition = duration(t, d, "for", 0), func() bool { return false }
	}
	reached := s.World.RunUntil(condition, limit)
	trace := s.World.Trace()
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

// onlyStatus keeps the lines about status writes, violations and failures.
func onlyStatus(trace string) string {
	var out strings.Builder
	for line := range strings.Lines(trace) {
		if strings.Contains(line, "  status ") || strings.Contains(line, "VIOLATION") || strings.Contains(line, "fail") && !strings.Contains(line, "fail pod") {
			out.WriteString(line)
		}
	}
	return out.String()
}
