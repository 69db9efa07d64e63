//go:build unix

package main

import (
	"maps"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

const metricsText = `# HELP apiserver_request_total [STABLE] Counter of apiserver requests
# TYPE apiserver_request_total counter
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="pods",scope="cluster",subresource="",verb="LIST",version="v1"} 5
apiserver_request_total{code="201",component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="",verb="POST",version="v1"} 1e+03
apiserver_request_total{code="201",component="apiserver",dry_run="All",group="",resource="pods",scope="resource",subresource="",verb="POST",version="v1"} 1
apiserver_request_total{code="409",component="apiserver",dry_run="",group="batch",resource="jobs",scope="resource",subresource="status",verb="PUT",version="v1"} 2
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="nodes",scope="resource",subresource="",verb="GET",version="v1"} 14
apiserver_request_total{code="200",component="",dry_run="",group="",resource="",scope="",subresource="/readyz",verb="GET",version=""} 3
# TYPE apiserver_request_duration_seconds histogram
apiserver_request_duration_seconds_bucket{resource="pods",verb="POST",le="+Inf"} 7
apiserver_request_duration_seconds_sum{resource="pods",verb="POST"} 7
apiserver_request_duration_seconds_count{resource="pods",verb="POST"} 7
`

func TestParseRequests(t *testing.T) {
	got, err := parseRequests(strings.NewReader(metricsText))
	assert.NoError(t, err)
	want := requestCounts{
		{Verb: "LIST", Resource: "pods"}:                                      5,
		{Verb: "POST", Resource: "pods"}:                                      1001,
		{Verb: "PUT", Resource: "jobs", Subresource: "status", Failed: "409"}: 2,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestParseRequestsErrors(t *testing.T) {
	for name, text := range map[string]string{
		"empty":      "",
		"other only": "up 1\n",
		"damaged":    "apiserver_request_total{code=\n",
	} {
		if got, err := parseRequests(strings.NewReader(text)); err == nil {
			t.Errorf("%s: no error, got %v", name, got)
		}
	}
}

func TestRequestsSince(t *testing.T) {
	post, list, get := requestKind{Verb: "POST", Resource: "pods"}, requestKind{Verb: "LIST", Resource: "pods"}, requestKind{Verb: "GET", Resource: "jobs"}
	got := requestCounts{post: 12, list: 5, get: 1}.since(requestCounts{post: 2, list: 5})
	if want := (requestCounts{post: 10, get: 1}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAccount(t *testing.T) {
	a := account(requestCounts{
		{Verb: "POST", Resource: "pods"}:                                      100,
		{Verb: "POST", Resource: "pods", Failed: "403"}:                       1,
		{Verb: "PATCH", Resource: "pods"}:                                     90,
		{Verb: "PUT", Resource: "pods"}:                                       10,
		{Verb: "PATCH", Resource: "pods", Subresource: "status"}:              100,
		{Verb: "DELETE", Resource: "pods"}:                                    3,
		{Verb: "PUT", Resource: "jobs", Subresource: "status"}:                4,
		{Verb: "PUT", Resource: "jobs", Subresource: "status", Failed: "409"}: 1,
		{Verb: "POST", Resource: "jobs"}:                                      1,
		{Verb: "GET", Resource: "jobs"}:                                       2,
		{Verb: "WATCH", Resource: "pods"}:                                     9,
		{Verb: "POST", Resource: "events"}:                                    7,
		{Verb: "PATCH", Resource: "events"}:                                   2,
		{Verb: "LIST", Resource: "events"}:                                    1,
	})
	if a.Create != 101 || a.Release != 100 || a.Delete != 3 || a.Status != 5 || a.Events != 9 {
		t.Errorf("got %+v", a)
	}
	if want := (requestCounts{{Verb: "GET", Resource: "jobs"}: 2}); !maps.Equal(a.Other, want) {
		t.Errorf("other: got %v, want %v", a.Other, want)
	}
	if got := a.podRequests(); got != 206 {
		t.Errorf("got %d requests, want 206", got)
	}
	if got := a.all(); got != 220 {
		t.Errorf("got %d requests, status and events too, want 220", got)
	}
}

func TestMostFrequentRequestsComeFirst(t *testing.T) {
	counts := requestCounts{
		{Verb: "GET", Resource: "jobs"}:                                       1,
		{Verb: "PUT", Resource: "jobs", Subresource: "status", Failed: "409"}: 1,
		{Verb: "POST", Resource: "pods"}:                                      3,
	}
	assert.Equal(t, counts.String(), "POST pods 3, GET jobs 1, PUT jobs/status (409) 1")
}
