//go:build unix

package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// requestKind is one kind of request to the API server. Failed is the HTTP code
// if it is 400 or more, else empty.
type requestKind struct {
	Verb        string `json:"verb"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource,omitempty"`
	Failed      string `json:"failed,omitempty"`
}

func (k requestKind) String() string {
	s := k.Verb + " " + k.Resource
	if k.Subresource != "" {
		s += "/" + k.Subresource
	}
	if k.Failed != "" {
		s += " (" + k.Failed + ")"
	}
	return s
}

// requestCounts counts what concerns Jobs, pods, and the events about them.
type requestCounts map[requestKind]int

// parseRequests reads the API server's metrics in the text format.
func parseRequests(text io.Reader) (requestCounts, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	family := families["apiserver_request_total"]
	if family == nil {
		return nil, fmt.Errorf("the API server's metrics have no apiserver_request_total")
	}
	counts := requestCounts{}
	for _, metric := range family.Metric {
		kind, relevant := kindOf(metric.Label)
		if relevant {
			counts[kind] += int(metric.GetCounter().GetValue())
		}
	}
	return counts, nil
}

func kindOf(labels []*dto.LabelPair) (requestKind, bool) {
	var k requestKind
	for _, l := range labels {
		switch l.GetName() {
		case "verb":
			k.Verb = l.GetValue()
		case "resource":
			k.Resource = l.GetValue()
		case "subresource":
			k.Subresource = l.GetValue()
		case "code":
			if code := l.GetValue(); code >= "4" && len(code) == 3 {
				k.Failed = code
			}
		}
	}
	return k, slices.Contains([]string{"pods", "jobs", "events"}, k.Resource)
}

// since returns the requests after before, only those that there were.
func (c requestCounts) since(before requestCounts) requestCounts {
	d := requestCounts{}
	for kind, n := range c {
		if n -= before[kind]; n != 0 {
			d[kind] = n
		}
	}
	return d
}

// request is a requestKind with its number, as JSON shows it.
type request struct {
	requestKind
	Count int `json:"count"`
}

func (c requestCounts) list() []request {
	var list []request
	for kind, n := range c {
		list = append(list, request{kind, n})
	}
	slices.SortFunc(list, func(a, b request) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.String(), b.String()))
	})
	return list
}

// accounting is the requests of one run by what they are good for.
type accounting struct {
	// Create, Release and Delete are the pod writes of a controller: POST, PATCH
	// and PUT of no subresource, DELETE.
	Create, Release, Delete int
	// Status is the writes of a Job's status.
	Status int
	// Events is the writes of events, about anything.
	Events int
	// Other is everything else about pods and Jobs.
	Other requestCounts
}

// account sorts the requests of one run. What is not the controller's is left out:
// pods/status is kwok's, and that of Jobs themselves the bench client's. So are
// watches: they count when they end, and a controller's last for minutes.
func account(requests requestCounts) accounting {
	a := accounting{Other: requestCounts{}}
	for kind, n := range requests {
		if count := a.counter(kind); count != nil {
			*count += n
			continue
		}
		if !notTheControllers(kind) {
			a.Other[kind] = n
		}
	}
	return a
}

// counter is where requests of this kind count, or nil.
func (a *accounting) counter(k requestKind) *int {
	k.Failed = ""
	switch k.String() {
	case "POST pods":
		return &a.Create
	case "PATCH pods", "PUT pods":
		return &a.Release
	case "DELETE pods", "DELETECOLLECTION pods":
		return &a.Delete
	case "PUT jobs/status", "PATCH jobs/status":
		return &a.Status
	case "POST events", "PATCH events", "PUT events":
		return &a.Events
	}
	return nil
}

func notTheControllers(k requestKind) bool {
	k.Failed = ""
	switch k.String() {
	case "PATCH pods/status", "POST jobs":
		return true
	}
	return k.Verb == "WATCH" || k.Resource == "events"
}

// podRequests is all that a controller asked about pods and Jobs, status writes and
// events aside.
func (a accounting) podRequests() int {
	n := a.Create + a.Release + a.Delete
	for _, other := range a.Other {
		n += other
	}
	return n
}

// all is every request, about anything.
func (a accounting) all() int { return a.podRequests() + a.Status + a.Events }
