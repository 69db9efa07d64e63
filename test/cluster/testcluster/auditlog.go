package testcluster

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// auditEvent is a request in the API server's audit log.
type auditEvent struct {
	Stage, Verb, RequestURI, UserAgent string
	User                               auditUser
	ResponseStatus                     struct{ Code int }
	ObjectRef                          *auditRef
	ResponseObject                     *metav1.PartialObjectMetadata // Only set for created pods.
	Annotations                        map[string]string
	At                                 time.Time `json:"requestReceivedTimestamp"`
	AnsweredAt                         time.Time `json:"stageTimestamp"`
}

// auditRef is the object of a request.
type auditRef struct{ Resource, Subresource, Namespace, Name, APIGroup string }

// resource returns the resource with its subresource, named as in a role.
func (r *auditRef) resource() string { return strings.TrimSuffix(r.Resource+"/"+r.Subresource, "/") }

type auditUser struct{ Username string }

// succeeded reports whether the request succeeded.
func (e auditEvent) succeeded() bool { return e.Stage != arrival && e.ResponseStatus.Code/100 == 2 }

// arrival is the stage of a request that the API server has received but not processed.
const arrival = "RequestReceived"

// auditLog visits the events logged after offset from, and returns the new offset. An incomplete last line is left for
// the next call. An event that a killed API server left incomplete is skipped: the next event follows it on the same
// line.
func auditLog(name string, from int64, visit func(auditEvent)) (int64, error) {
	file, err := os.Open(name)
	if err != nil {
		return from, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil {
		return from, err
	} else if info.Size() < from {
		return from, fmt.Errorf("%s has become shorter: the end was at %d", name, from)
	}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return from, err
	}
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return from, nil
		}
		var event auditEvent
		if err == nil {
			err = json.Unmarshal(line[max(bytes.LastIndex(line, []byte(`{"kind":"Event"`)), 0):], &event)
		}
		if err != nil {
			return from, fmt.Errorf("%s: %w", name, err)
		}
		visit(event)
		from += int64(len(line))
	}
}
