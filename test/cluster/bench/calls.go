//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// callKind is the purpose of a write to the API server.
type callKind string

const (
	callCreate callKind = "create"  // of a pod
	callStrip  callKind = "release" // removes a pod's finalizer
	callDelete callKind = "delete"  // of a pod
	callStatus callKind = "status"  // of a Job
	callBegin  callKind = "job created"
	callChange callKind = "job changed"
	callEnd    callKind = "job deleted"
)

// callKinds maps the verb and resource of audit log entries to kinds.
var callKinds = map[string]callKind{
	"create pods": callCreate, "patch pods": callStrip, "update pods": callStrip, "delete pods": callDelete,
	"patch jobs/status": callStatus, "update jobs/status": callStatus,
	"create jobs": callBegin, "patch jobs": callChange, "update jobs": callChange, "delete jobs": callEnd,
}

// loggedCall is a write in the API server's audit log, from the arrival of the request to the response.
type loggedCall struct {
	kind         callKind
	code         int
	begun, ended time.Time
}

// auditEntry has the fields of an audit.k8s.io/v1 Event that are used here.
type auditEntry struct {
	Verb      string `json:"verb"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Received time.Time `json:"requestReceivedTimestamp"`
	Answered time.Time `json:"stageTimestamp"`
}

// parseCalls reads an audit log, whose last line may be incomplete, and returns the calls in order of arrival.
func parseCalls(log io.Reader) ([]loggedCall, error) {
	var calls []loggedCall
	for decoder := json.NewDecoder(log); ; {
		var entry auditEntry
		err := decoder.Decode(&entry)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading the API server's audit log: %w", err)
		}
		what := entry.Verb + " " + entry.ObjectRef.Resource
		if entry.ObjectRef.Subresource != "" {
			what += "/" + entry.ObjectRef.Subresource
		}
		if kind, known := callKinds[what]; known {
			calls = append(calls, loggedCall{kind, entry.ResponseStatus.Code, entry.Received, entry.Answered})
		}
	}
	slices.SortStableFunc(calls, func(a, b loggedCall) int { return a.begun.Compare(b.begun) })
	return calls, nil
}

// callsDuring runs do and returns the calls that the API server answered meanwhile.
func (l *launched) callsDuring(do func() error) ([]loggedCall, error) {
	log, err := os.Open(l.auditLog())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if _, err := log.Seek(0, io.SeekEnd); err != nil {
		return nil, err
	}
	if err := do(); err != nil {
		return nil, err
	}
	return parseCalls(log)
}
