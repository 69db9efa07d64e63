//go:build unix

package main

import (
	"context"
	"crypto/tls"
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

// Metrics of both controllers, with the same labels.
const (
	metricSyncs         = "job_controller_job_syncs_total"
	metricSyncDurations = "job_controller_job_sync_duration_seconds"
	// actionDeleted is the label of syncs that deleted pods.
	actionDeleted = "pods_deleted"
)

// syncs summarizes the syncs of a controller since its start, of one action or of all.
type syncs struct {
	ok, failed float64
	// took maps a duration in seconds to the number of syncs that took at most that long.
	took map[float64]float64
}

// syncsByAction maps actions to their syncs; the key "" is all actions.
type syncsByAction map[string]syncs

func parseMetrics(text io.Reader) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, fmt.Errorf("reading the metrics of a controller: %w", err)
	}
	return families, nil
}

func syncsIn(families map[string]*dto.MetricFamily) syncsByAction {
	out := syncsByAction{}
	add := func(labels []*dto.LabelPair, change func(*syncs)) {
		for _, action := range []string{"", labelOf(labels, "action")} {
			s := out[action]
			if s.took == nil {
				s.took = map[float64]float64{}
			}
			change(&s)
			out[action] = s
		}
	}
	for _, m := range families[metricSyncs].GetMetric() {
		add(m.Label, func(s *syncs) {
			if labelOf(m.Label, "result") == "error" {
				s.failed += m.GetCounter().GetValue()
			} else {
				s.ok += m.GetCounter().GetValue()
			}
		})
	}
	for _, m := range families[metricSyncDurations].GetMetric() {
		add(m.Label, func(s *syncs) {
			for _, b := range m.GetHistogram().GetBucket() {
				s.took[b.GetUpperBound()] += float64(b.GetCumulativeCount())
			}
		})
	}
	return out
}

func labelOf(labels []*dto.LabelPair, name string) string {
	for _, l := range labels {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// since returns the syncs after before.
func (s syncsByAction) since(before syncsByAction) syncsByAction {
	d := syncsByAction{}
	for action, now := range s {
		was := before[action]
		now.ok, now.failed, now.took = now.ok-was.ok, now.failed-was.failed, maps.Clone(now.took)
		for bound := range now.took {
			now.took[bound] -= was.took[bound]
		}
		d[action] = now
	}
	return d
}

// errorPercent returns the percentage of failed syncs, nil without syncs.
func (s syncs) errorPercent() *float64 {
	total := s.ok + s.failed
	if total == 0 {
		return nil
	}
	percent := 100 * s.failed / total
	return &percent
}

// percentile returns the duration that percent % of the syncs did not exceed, with linear interpolation within a bucket.
// It returns the last bound for a value beyond it, and nil without syncs.
func (s syncs) percentile(percent float64) *float64 {
	bounds := slices.Sorted(maps.Keys(s.took))
	if len(bounds) == 0 || s.took[bounds[len(bounds)-1]] == 0 {
		return nil
	}
	rank := percent / 100 * s.took[bounds[len(bounds)-1]]
	below, low := 0.0, 0.0
	for _, bound := range bounds {
		if math.IsInf(bound, 1) {
			break
		}
		if n := s.took[bound]; n >= rank && n > below {
			at := low + (bound-low)*(rank-below)/(n-below)
			return &at
		}
		below, low = s.took[bound], bound
	}
	return &low
}

func readSyncs(ctx context.Context, url string) (syncsByAction, error) {
	families, err := readMetrics(ctx, url)
	return syncsIn(families), err
}

// readMetrics reads the metrics of a controller on this machine, whose certificate is self-signed.
func readMetrics(ctx context.Context, url string) (map[string]*dto.MetricFamily, error) {
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return parseMetrics(response.Body)
}
