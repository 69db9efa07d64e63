package monitoring

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	kubemetrics "k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/utils/clock"

	_ "github.com/batchjob-dev/kubectl-batchjob/internal/cli" // Links the metrics that the controller serves.
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/metrics"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// series maps names of series, as in Prometheus, to their labels.
type series map[string][]string

// targetLabels are the labels that Prometheus adds to all scraped series.
var targetLabels = []string{"job", "namespace", "instance", "pod", "service", "endpoint", "container"}

// has reports whether series with this name can have the label.
func (s series) has(metric, label string) bool {
	return slices.Contains(s[metric], label) || slices.Contains(targetLabels, label)
}

func (s series) addHistogram(name string, labels []string) {
	s[name+"_bucket"], s[name+"_sum"], s[name+"_count"] = append([]string{"le"}, labels...), labels, labels
}

// served returns the series at /metrics of a leading replica, and the series that Prometheus adds.
func served(t *testing.T) series {
	t.Helper()
	s := series{"up": nil}
	s.addOwn(t)
	useLibraries(t)
	families, err := legacyregistry.DefaultGatherer.Gather()
	assert.NoError(t, err)
	for _, family := range families {
		var labels []string
		for _, pair := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, pair.GetName())
		}
		if family.GetMetric()[0].GetHistogram() != nil {
			s.addHistogram(family.GetName(), labels)
		} else {
			s[family.GetName()] = labels
		}
	}
	return s
}

// histograms is a registry that records which metrics are histograms.
type histograms struct {
	kubemetrics.KubeRegistry
	names map[string]bool
}

func (h histograms) MustRegister(list ...kubemetrics.Registerable) {
	h.KubeRegistry.MustRegister(list...)
	for _, r := range list {
		if vector, is := r.(*kubemetrics.HistogramVec); is {
			h.names[vector.FQName()] = true
		}
	}
}

var goldenLine = regexp.MustCompile(`(?m)^([a-z_]+)\{(.*)\}$`)

// addOwn adds the controller's metrics from their golden file, which the controller's own tests compare with the code.
func (s series) addOwn(t *testing.T) {
	t.Helper()
	registry := histograms{kubemetrics.NewKubeRegistry(), map[string]bool{}}
	metrics.New(registry, clock.RealClock{})
	text, err := os.ReadFile("../../../pkg/controller/metrics/testdata/metrics.txt")
	assert.NoError(t, err)
	for _, line := range goldenLine.FindAllStringSubmatch(string(text), -1) {
		labels := strings.FieldsFunc(line[2], func(r rune) bool { return r == ',' })
		if registry.names[line[1]] {
			s.addHistogram(line[1], labels)
		} else {
			s[line[1]] = labels
		}
	}
}

// useLibraries makes the metrics of client-go appear, by using it: they are registered on first use.
func useLibraries(t *testing.T) {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	assert.NoError(t, err)
	if _, err := client.CoreV1().Pods("ns").List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Fatal("a list that was not found succeeded")
	}
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[string](), workqueue.TypedRateLimitingQueueConfig[string]{Name: "job"})
	queue.Add("uid")
	item, _ := queue.Get()
	queue.Done(item)
	queue.ShutDown()
	leases, err := kube.NewForConfig(&rest.Config{Host: server.URL})
	assert.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	election := leader.Election{
		Client: leases, Namespace: "ns", Name: "lease", LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
	}
	err = election.Run(ctx, func(context.Context) error { return nil })
	assert.NoError(t, err)
}
