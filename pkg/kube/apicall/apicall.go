// Package apicall names requests to the API server, so that an error can say which permission or which object is missing.
package apicall

import (
	"errors"
	"fmt"
	"strings"
)

// Call is a request.
type Call struct {
	Verb      string // get, list, watch, …
	Group     string // "" for the core group
	Resource  string // plural, e.g. jobs; with its subresource, e.g. pods/log
	Namespace string // "" for all namespaces
	Name      string // "" for a collection
}

// callError is an error with the request that failed.
type callError struct {
	call Call
	err  error
}

func (e *callError) Error() string {
	return fmt.Sprintf("%s %s: %v", e.call.Verb, e.call.GroupResource(), e.err)
}

func (e *callError) Unwrap() error { return e.err }

// Wrap returns err with the call attached, or nil if err is nil.
func (c Call) Wrap(err error) error {
	if err == nil {
		return nil
	}
	return &callError{call: c, err: err}
}

// Of returns the request that failed with err, or the zero value if it is unknown.
func Of(err error) Call {
	if known, is := errors.AsType[*callError](err); is {
		return known.call
	}
	return Call{}
}

// GroupResource returns the resource as kubectl names it, e.g. jobs.batch or jobs.batch/status.
func (c Call) GroupResource() string {
	if c.Group == "" {
		return c.Resource
	}
	return c.Parent() + "." + c.Group + strings.TrimPrefix(c.Resource, c.Parent())
}

// Singular returns the resource in the singular, for messages: "job" for jobs. A subresource stays as it is.
func (c Call) Singular() string {
	if n := len(c.Resource); n > 1 && c.Resource[n-1] == 's' && c.Resource == c.Parent() {
		return c.Resource[:n-1]
	}
	return c.Resource
}

// String describes the request, for example: get job "train" in namespace "ml".
func (c Call) String() string {
	words := c.Verb + " " + c.Resource
	if c.Name != "" {
		words = fmt.Sprintf("%s %s %q", c.Verb, c.Singular(), c.Name)
	}
	if c.Namespace != "" || c.Verb == "list" && c.Resource != "namespaces" {
		words += " " + c.Where()
	}
	return words
}

// Where describes the namespace of the call in words.
func (c Call) Where() string {
	if c.Namespace == "" {
		return "in all namespaces"
	}
	return fmt.Sprintf("in namespace %q", c.Namespace)
}

// Parent returns the resource without its subresource.
func (c Call) Parent() string {
	resource, _, _ := strings.Cut(c.Resource, "/")
	return resource
}

// CanI returns the kubectl command that checks the permission for the call.
func (c Call) CanI() string {
	what, where := c.GroupResource(), "-A"
	if resource, subresource, ok := strings.Cut(what, "/"); ok {
		what = resource + " --subresource=" + subresource
	}
	if c.Namespace != "" {
		where = "-n " + c.Namespace
	}
	return fmt.Sprintf("kubectl auth can-i %s %s %s", c.Verb, what, where)
}
