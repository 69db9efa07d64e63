package cli

import (
	"errors"
	"fmt"
	"strings"
)

// apiCall names a request, so that an error of it can say which permission or object was missing.
type apiCall struct {
	verb      string // get, list, watch, …
	group     string // "" for the core group
	resource  string // plural, e.g. jobs; with its subresource, e.g. pods/log
	namespace string // "" for all namespaces
	name      string // "" for a collection
}

// callError ties an error to the request that met it.
type callError struct {
	call apiCall
	err  error
}

func (e *callError) Error() string {
	return fmt.Sprintf("%s %s: %v", e.call.verb, e.call.groupResource(), e.err)
}

func (e *callError) Unwrap() error { return e.err }

// wrap returns err as an error of this call, nil for nil.
func (c apiCall) wrap(err error) error {
	if err == nil {
		return nil
	}
	return &callError{call: c, err: err}
}

// callOf is the request that met err, the zero value when it is not known.
func callOf(err error) apiCall {
	var known *callError
	if errors.As(err, &known) {
		return known.call
	}
	return apiCall{}
}

func (c apiCall) groupResource() string {
	if c.group == "" {
		return c.resource
	}
	return c.resource + "." + c.group
}

// singular is for reading: "job" for jobs.
func (c apiCall) singular() string {
	if n := len(c.resource); n > 1 && c.resource[n-1] == 's' {
		return c.resource[:n-1]
	}
	return c.resource
}

func (c apiCall) where() string {
	if c.namespace == "" {
		return "in all namespaces"
	}
	return fmt.Sprintf("in namespace %q", c.namespace)
}

// parent is the resource without its subresource.
func (c apiCall) parent() string {
	resource, _, _ := strings.Cut(c.resource, "/")
	return resource
}

// canI is the command that shows whether the permission is there.
func (c apiCall) canI() string {
	what, where := c.groupResource(), "-A"
	if resource, subresource, ok := strings.Cut(what, "/"); ok {
		what = resource + " --subresource=" + subresource
	}
	if c.namespace != "" {
		where = "-n " + c.namespace
	}
	return fmt.Sprintf("kubectl auth can-i %s %s %s", c.verb, what, where)
}
