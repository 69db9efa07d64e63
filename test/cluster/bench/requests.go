//go:build unix

package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// requestKind is a kind of request to the API server. Failed is the HTTP status code if it is 400 or higher, else empty.
type requestKind struct {
	Verb        string
	Resource    string
	Subresource string
	Failed      string
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

// requestCounts counts the requests about Jobs, pods, and their events.
type requestCounts map[requestKind]int

// parseRequests reads the API server's metrics in the text format.
func parseRequests(text io.Reader) (requestCounts, error) {
	families, err := parseMetrics(text)
	if err != nil {
		return nil, err
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

// since returns the requests after before, without zeros.
func (c requestCounts) since(before requestCounts) requestCounts {
	d := requestCounts{}
	for kind, n := range c {
		if n -= before[kind]; n != 0 {
			d[kind] = n
		}
	}
	return d
}

// String lists the requests, the most frequent first.
func (c requestCounts) String() string {
	kinds := slices.SortedFunc(maps.Keys(c), func(a, b requestKind) int {
		return cmp.Or(cmp.Compare(c[b], c[a]), strings.Compare(a.String(), b.String()))
	})
	var words []string
	for _, kind := range kinds {
		words = append(words, fmt.Sprintf("%s %d", kind, c[kind]))
	}
	return strings.Join(words, ", ")
}

// accounting groups the requests of one run by purpose.
type accounting struct {
	// Create, Release and Delete are a controller's writes to pods: POST; PATCH and PUT without a subresource;
	// DELETE.
	Create, Release, Delete int
	// Status is the number of writes to the status of Jobs.
	Status int
	// Events is the number of writes to events about any object.
	Events int
	// Other holds the remaining requests about pods and Jobs.
	Other requestCounts
}

// account groups the requests of one run. Requests of other clients are left out: kwok writes pods/status, and the
// benchmark creates Jobs. Watches are left out, too: they are counted when they end, and a controller's watches last for
// minutes.
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

// counter returns the counter for requests of this kind, or nil.
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

// podRequests returns the number of a controller's requests about pods and Jobs, without status writes and events.
func (a accounting) podRequests() int {
	n := a.Create + a.Release + a.Delete
	for _, other := range a.Other {
		n += other
	}
	return n
}

// all returns the number of all requests.
func (a accounting) all() int { return a.podRequests() + a.Status + a.Events }
