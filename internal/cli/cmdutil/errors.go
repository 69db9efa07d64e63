package cmdutil

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/batchjob-dev/kubectl-batchjob/internal/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
)

// Exit codes; rootLong prints those that exist.
const (
	ExitDone        = 0
	ExitError       = 1
	ExitUsage       = 2
	ExitJobFailed   = 3
	ExitTimeout     = 124
	ExitInterrupted = 130
)

// ErrorKind is what went wrong, from the user's side.
type ErrorKind string

const (
	KindUsage        ErrorKind = "Usage"        // the command line
	kindInterrupted  ErrorKind = "Interrupted"  // Ctrl-C: says nothing
	KindKubeconfig   ErrorKind = "Kubeconfig"   // missing, unreadable or invalid
	KindContext      ErrorKind = "Context"      // the kubeconfig has no such context
	KindCredentials  ErrorKind = "Credentials"  // 401, or they could not be obtained
	KindForbidden    ErrorKind = "Forbidden"    // 403
	KindNotFound     ErrorKind = "NotFound"     // 404
	KindUnreachable  ErrorKind = "Unreachable"  // no answer
	kindUntrusted    ErrorKind = "Untrusted"    // TLS certificate not accepted
	KindServerFailed ErrorKind = "ServerFailed" // any other answer of the API server
	kindJobFailed    ErrorKind = "JobFailed"    // a Job that was waited for: the verb has said so, this says nothing
	KindTimeout      ErrorKind = "Timeout"      // of --timeout
	KindOther        ErrorKind = "Other"
)

// UserError is an error as the user reads it: one safe line that says what happened, and what to do.
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

// NewUserError makes both texts one safe line.
func NewUserError(kind ErrorKind, cause error, what, hint string) *UserError {
	return &UserError{kind: kind, What: OneLine(what), Hint: OneLine(hint), cause: cause}
}

// UsageErrorf is an error of the command line. Execute adds the hint to --help.
func UsageErrorf(format string, args ...any) error {
	return NewUserError(KindUsage, nil, fmt.Sprintf(format, args...), "")
}

// OneLine joins the lines of s with a space and makes it safe for a terminal.
func OneLine(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return sanitize.Line(strings.TrimSpace(strings.Join(lines, " ")))
}

// PrintError writes err to w as "error: …", one line for each error that was joined; nothing for nil, an
// interruption and a failed Job.
func PrintError(w io.Writer, err error) {
	for _, e := range Flatten(ExplainError(err)) {
		if kind := KindOf(e); kind != kindInterrupted && kind != kindJobFailed {
			fmt.Fprintf(w, "error: %s\n", OneLine(e.Error()))
		}
	}
}

// ExitCode is the exit code for what Execute returned.
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
		}
	}
	return code
}

// KindOf is the kind of an explained error.
func KindOf(err error) ErrorKind {
	var known *UserError
	if errors.As(err, &known) {
		return known.kind
	}
	return KindOther
}

// Flatten returns the errors that were joined in err (errors.Join, utilerrors.Aggregate), else err alone.
func Flatten(err error) []error {
	if err == nil {
		return nil
	}
	parts := joinedIn(err)
	if parts == nil {
		return []error{err}
	}
	var all []error
	for _, part := range parts {
		all = append(all, Flatten(part)...)
	}
	return all
}

func joinedIn(err error) []error {
	switch joined := err.(type) { //nolint:errorlint // asks what this very error is made of
	case utilerrors.Aggregate:
		if !clientcmd.IsConfigurationInvalid(err) {
			return joined.Errors()
		}
	case interface{ Unwrap() []error }:
		// fmt.Errorf with several %w has text of its own, which must not be lost.
		if parts := joined.Unwrap(); err.Error() == errors.Join(parts...).Error() {
			return parts
		}
	}
	return nil
}

// ExplainError turns any error into one that a user can act on: a *UserError, or several joined. It is idempotent,
// nil stays nil, and the original stays reachable by errors.Is and errors.As.
func ExplainError(err error) error {
	parts := Flatten(err)
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return explainOne(parts[0])
	}
	explained := make([]error, len(parts))
	for i := range parts {
		explained[i] = explainOne(parts[i])
	}
	return errors.Join(explained...)
}

func explainOne(err error) error {
	var known *UserError
	if errors.As(err, &known) {
		return known
	}
	if errors.Is(err, context.Canceled) {
		return NewUserError(kindInterrupted, err, "interrupted", "")
	}
	for _, explain := range []func(error) *UserError{explainKubeconfig, explainStatus, explainTransport} {
		if e := explain(err); e != nil {
			return e
		}
	}
	return NewUserError(KindOther, err, err.Error(), "")
}

func explainKubeconfig(err error) *UserError {
	switch {
	case clientcmd.IsContextNotFound(err):
		return NewUserError(KindContext, err, err.Error(), "see: kubectl config get-contexts")
	case clientcmd.IsEmptyConfig(err):
		return NewUserError(KindKubeconfig, err, "no kubeconfig found", kubeconfigHint)
	case clientcmd.IsConfigurationInvalid(err):
		return NewUserError(KindKubeconfig, err, err.Error(), "fix it, or choose another with --kubeconfig or --context")
	}
	return nil
}

// explainStatus explains an answer of the API server.
func explainStatus(err error) *UserError {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return nil
	}
	status, call := answer.Status(), apicall.Of(err)
	switch status.Reason {
	case metav1.StatusReasonUnauthorized:
		return NewUserError(KindCredentials, err, "the API server rejected your credentials ("+status.Message+")",
			"log in again, or check the user of this context (kubectl config view --minify)")
	case metav1.StatusReasonForbidden:
		return explainForbidden(err, status, call)
	case metav1.StatusReasonNotFound:
		return explainNotFound(err, status, call)
	}
	what := "the API server answered: " + status.Message
	if status.Reason != "" && status.Reason != metav1.StatusReasonUnknown {
		what += fmt.Sprintf(" (%s)", status.Reason)
	}
	hint := ""
	if apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) {
		hint = "try again in a moment"
	}
	return NewUserError(KindServerFailed, err, what, hint)
}

func explainForbidden(err error, status metav1.Status, call apicall.Call) *UserError {
	// An answer about another resource, e.g. the user to impersonate, is not about the call's own permission.
	if call == (apicall.Call{}) || (status.Details != nil && status.Details.Kind != "" && status.Details.Kind != call.Parent()) {
		return NewUserError(KindForbidden, err, "the API server denied the request: "+status.Message,
			"ask for this permission, or use another user (--context, --as)")
	}
	return NewUserError(KindForbidden, err,
		fmt.Sprintf("you may not %s %s %s (%s)", call.Verb, call.Resource, call.Where(), status.Message),
		fmt.Sprintf("ask for the verb %q on %q %s, and check it with: %s", call.Verb, call.GroupResource(), call.Where(), call.CanI()))
}

func explainNotFound(err error, status metav1.Status, call apicall.Call) *UserError {
	named := call.Name != "" && status.Details != nil && status.Details.Name == call.Name
	switch {
	case named && call.Namespace != "":
		return NewUserError(KindNotFound, err, fmt.Sprintf("%s %q not found %s", call.Singular(), call.Name, call.Where()),
			"list what exists with: kubectl get "+call.GroupResource()+" -n "+call.Namespace)
	case status.Details != nil && status.Details.Name != "":
		return NewUserError(KindNotFound, err, status.Message, "check the name and the namespace")
	default:
		return NewUserError(KindNotFound, err, "the server has no such API ("+status.Message+")",
			"check that it is a Kubernetes API server: kubectl config view --minify")
	}
}

// explainTransport explains a request that got no answer.
func explainTransport(err error) *UserError {
	var failed *url.Error
	var network net.Error
	var file *fs.PathError // It looks like a network's.
	switch {
	case errors.Is(err, feed.ErrClosed):
		return NewUserError(KindUnreachable, err, "cannot reach the API server: it keeps closing the connection", "")
	case errors.As(err, &file):
		return nil
	case errors.As(err, &failed):
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network):
		failed = &url.Error{Err: err}
	default:
		return nil
	}
	server := "the API server"
	if u, parseErr := url.Parse(failed.URL); parseErr == nil && u.Host != "" {
		server += fmt.Sprintf(" at %s://%s", u.Scheme, u.Host)
	}
	if certificateProblem(failed.Err) {
		return NewUserError(kindUntrusted, err, fmt.Sprintf("cannot trust %s: %s", server, failed.Err),
			"check the server address and certificate authority of this context (kubectl config view --minify)")
	}
	if strings.Contains(failed.Err.Error(), "getting credentials") {
		return NewUserError(KindCredentials, err, fmt.Sprintf("cannot get credentials for %s: %s", server, failed.Err),
			"check the user of this context (kubectl config view --minify)")
	}
	return NewUserError(KindUnreachable, err, fmt.Sprintf("cannot reach %s: %s", server, transportCause(failed)),
		"check that it is running and that the context is correct (kubectl config view --minify)")
}

func certificateProblem(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}

func transportCause(failed *url.Error) string {
	var dns *net.DNSError
	switch {
	case errors.Is(failed.Err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(failed.Err, &dns):
		return fmt.Sprintf("cannot resolve the host name %q", dns.Name)
	case failed.Timeout():
		return "no answer in time"
	}
	return failed.Err.Error()
}

// JobFailed is the error of a verb that waited for Jobs and has said which failed.
func JobFailed(labels []string) error {
	return NewUserError(kindJobFailed, nil, "failed: "+strings.Join(labels, ", "), "")
}
