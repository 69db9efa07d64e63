//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// metricSyncDurations is a histogram.
const metricSyncDurations = "job_controller_job_sync_duration_seconds"

// syncs maps a duration in seconds to the number of syncs since the controller's start that took at most that long.
type syncs map[float64]float64

func parseMetrics(text io.Reader) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	return families, nil
}

func syncsIn(families map[string]*dto.MetricFamily) syncs {
	took := syncs{}
	for _, m := range families[metricSyncDurations].GetMetric() {
		for _, b := range m.GetHistogram().GetBucket() {
			took[b.GetUpperBound()] += float64(b.GetCumulativeCount())
		}
	}
	return took
}

// since returns the syncs after before.
func (s syncs) since(before syncs) syncs {
	d := maps.Clone(s)
	for bound := range d {
		d[bound] -= before[bound]
	}
	return d
}

// percentile returns the duration that percent % of the syncs did not exceed, with linear interpolation within a bucket.
// It returns the last bound for a value beyond it, and nil without syncs.
func (s syncs) percentile(percent float64) *float64 {
	bounds := slices.Sorted(maps.Keys(s))
	if len(bounds) == 0 || s[bounds[len(bounds)-1]] == 0 {
		return nil
	}
	rank := percent / 100 * s[bounds[len(bounds)-1]]
	below, low := 0.0, 0.0
	for _, bound := range bounds {
		if math.IsInf(bound, 1) {
			break
		}
		if n := s[bound]; n >= rank && n > below {
			at := low + (bound-low)*(rank-below)/(n-below)
			return &at
		}
		below, low = s[bound], bound
	}
	return &low
}

// readSyncs reads the metrics of our controller.
func readSyncs(ctx context.Context, url string) (syncs, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	families, err := parseMetrics(response.Body)
	return syncsIn(families), err
}
