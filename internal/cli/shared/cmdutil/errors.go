package cmdutil

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

// Exit codes; the help of the root command lists them.
const (
	ExitDone        = 0
	ExitError       = 1
	ExitUsage       = 2
	ExitJobFailed   = 3
	ExitStalled     = 4
	ExitTimeout     = 124
	ExitInterrupted = 130
	ExitTerminated  = 143 // instead of ExitInterrupted, by a signal that is not the user's Ctrl-C
)

// ErrorKind classifies errors from the user's point of view.
type ErrorKind string

// The kinds of errors. PrintError prints nothing for some of them.
const (
	KindUsage        ErrorKind = "Usage"        // the command line
	kindInterrupted  ErrorKind = "Interrupted"  // Ctrl-C: not printed
	KindKubeconfig   ErrorKind = "Kubeconfig"   // missing, unreadable or invalid
	KindContext      ErrorKind = "Context"      // the kubeconfig has no such context
	KindCredentials  ErrorKind = "Credentials"  // 401, or the credentials could not be obtained
	KindForbidden    ErrorKind = "Forbidden"    // 403 for a missing permission
	KindNotFound     ErrorKind = "NotFound"     // 404
	KindUnreachable  ErrorKind = "Unreachable"  // no answer of the API server
	kindUntrusted    ErrorKind = "Untrusted"    // TLS certificate not accepted
	KindServerFailed ErrorKind = "ServerFailed" // any other answer of the API server
	kindJobFailed    ErrorKind = "JobFailed"    // an awaited Job failed; not printed, as the verb has printed it
	kindJobStalled   ErrorKind = "JobStalled"   // a reported Job is stalled; not printed, as the verb has printed it
	KindTimeout      ErrorKind = "Timeout"      // of --timeout
	KindStalled      ErrorKind = "Stalled"      // an awaited Job cannot continue
	KindOther        ErrorKind = "Other"
)

// UserError is an error for the user: one safe line that says what happened, and what to do.
type UserError struct {
	kind  ErrorKind
	What  string
	Hint  string // may be empty
	cause error  // may be nil
}

func (e *UserError) Error() string {
	if e.Hint == "" {
		return e.What
	}
	return e.What + "; " + e.Hint
}

func (e *UserError) Unwrap() error { return e.cause }

// NewUserError returns a UserError whose texts are made one safe line each.
func NewUserError(kind ErrorKind, cause error, what, hint string) *UserError {
	return &UserError{kind: kind, What: OneLine(what), Hint: OneLine(hint), cause: cause}
}

// UsageErrorf returns an error about the command line. Execute adds the hint to --help.
func UsageErrorf(format string, args ...any) error {
	return NewUserError(KindUsage, nil, fmt.Sprintf(format, args...), "")
}

// OneOf returns a usage error unless the value of the flag is one of the words.
func OneOf(flag, value string, words []string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return UsageErrorf("--%s=%s: must be one of: %s", flag, value, strings.Join(words, ", "))
}

// OneLine joins the lines of s with a space and makes it safe for a terminal.
func OneLine(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return sanitize.Line(strings.TrimSpace(strings.Join(lines, " ")))
}

// PrintError writes err to w as "error: …", one line for each joined error. It writes nothing for nil, for an
// interruption, and for failed or stalled Jobs, which the verb has printed.
func PrintError(w io.Writer, err error) {
	for _, e := range Flatten(ExplainError(err)) {
		if kind := KindOf(e); kind != kindInterrupted && kind != kindJobFailed && kind != kindJobStalled {
			fmt.Fprintf(w, "error: %s\n", OneLine(e.Error()))
		}
	}
}

// ExitCode returns the exit code for an error that Execute returned.
func ExitCode(err error) int {
	if err == nil {
		return ExitDone
	}
	code := ExitError
	for _, e := range Flatten(ExplainError(err)) {
		switch KindOf(e) {
		case kindInterrupted:
			return ExitInterrupted
		case KindTimeout:
			return ExitTimeout
		case KindUsage:
			code = ExitUsage
		case kindJobFailed:
			code = ExitJobFailed
		case KindStalled, kindJobStalled:
			code = ExitStalled
		}
	}
	return code
}

// KindOf returns the kind of an explained error.
func KindOf(err error) ErrorKind {
	if known, is := errors.AsType[*UserError](err); is {
		return known.kind
	}
	return KindOther
}

// Flatten returns the errors that are joined in err (errors.Join, utilerrors.Aggregate), or err alone.
func Flatten(err error) []error {
	if err == nil {
		return nil
	}
	var parts []error
	switch joined := err.(type) { //nolint:errorlint // asks what this very error is made of
	case utilerrors.Aggregate:
		if !clientcmd.IsConfigurationInvalid(err) {
			parts = joined.Errors()
		}
	case interface{ Unwrap() []error }:
		// fmt.Errorf with several %w has text of its own, which must be kept.
		if all := joined.Unwrap(); err.Error() == errors.Join(all...).Error() {
			parts = all
		}
	}
	if parts == nil {
		return []error{err}
	}
	var all []error
	for _, part := range parts {
		all = append(all, Flatten(part)...)
	}
	return all
}

// JobFailed returns the error of a verb that waited for Jobs and has printed which ones failed.
func JobFailed(labels []string) error {
	return NewUserError(kindJobFailed, nil, "failed: "+strings.Join(labels, ", "), "")
}

// JobStalled returns the error of a verb that has printed which Jobs are stalled.
func JobStalled(labels []string) error {
	return NewUserError(kindJobStalled, nil, "stalled: "+strings.Join(labels, ", "), "")
}
