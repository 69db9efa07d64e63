package metrics

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/component-base/metrics"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/goldenfile"
)

// listing is a registry that records the registered metrics.
type listing struct {
	metrics.KubeRegistry
	all []prometheus.Collector
}

func (l *listing) MustRegister(list ...metrics.Registerable) {
	l.KubeRegistry.MustRegister(list...)
	for _, r := range list {
		l.all = append(l.all, r)
	}
}

func (l *listing) RawMustRegister(list ...prometheus.Collector) {
	l.KubeRegistry.RawMustRegister(list...)
	l.all = append(l.all, list...)
}

var described = regexp.MustCompile(`fqName: "([^"]*)", help: "(?:\[ALPHA\] )?(.*?)", (?:unit: "[^"]*", )?constLabels: \{\}, variableLabels: \{([^}]*)\}`)

// JOB-52, MGB-07: the golden file holds every metric's name, labels and help. Dashboards of the built-in controller use
// the names and labels in upstream.
func TestMetricsHaveTheBuiltinNames(t *testing.T) {
	l := &listing{KubeRegistry: metrics.NewKubeRegistry()}
	New(l, clocktesting.NewFakeClock(time.Time{}))
	var lines []string
	labels := map[string]string{}
	for _, c := range l.all {
		descriptions := make(chan *prometheus.Desc, 1)
		c.Describe(descriptions)
		d := described.FindStringSubmatch((<-descriptions).String())
		if d == nil {
			t.Fatalf("cannot read the description of %T", c)
		}
		labels[d[1]] = d[3]
		lines = append(lines, fmt.Sprintf("%s{%s}\n    %s\n", d[1], d[3], strings.ReplaceAll(d[2], `\"`, `"`)))
	}
	slices.Sort(lines)
	goldenfile.Compare(t, filepath.Join("testdata", "metrics.txt"), strings.Join(lines, ""))

	upstream := map[string]string{
		"job_controller_job_sync_duration_seconds":                    "completion_mode,result,action",
		"job_controller_job_syncs_total":                              "completion_mode,result,action",
		"job_controller_jobs_finished_total":                          "completion_mode,result,reason",
		"job_controller_job_pods_finished_total":                      "completion_mode,result",
		"job_controller_pod_failures_handled_by_failure_policy_total": "action",
		"job_controller_terminated_pods_tracking_finalizer_total":     "event",
		"job_controller_job_finished_indexes_total":                   "status,backoffLimit",
		"job_controller_job_pods_creation_total":                      "reason,status",
		"job_controller_stale_sync_skips_total":                       "group,resource",
		"job_controller_jobs_by_external_controller_total":            "controller_name",
	}
	for name, want := range upstream {
		if got, there := labels[name]; !there || got != want {
			t.Errorf("%s has the labels %q (%v), the built-in controller's has %q", name, got, there, want)
		}
	}
}
