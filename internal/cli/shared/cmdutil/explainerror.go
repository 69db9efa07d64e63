package cmdutil

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/requests"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// ExplainError turns any error into a *UserError that the user can act on, or into several joined ones. It is
// idempotent, nil stays nil, and the original stays reachable by errors.Is and errors.As.
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
	if known, is := errors.AsType[*UserError](err); is {
		return known
	}
	if errors.Is(err, context.Canceled) {
		return NewUserError(kindInterrupted, err, "interrupted", "")
	}
	for _, explain := range []func(error) *UserError{explainKubeconfig, explainStatus, explainProxy, explainTimeout, explainCredentials, explainTransport} {
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

// explainStatus explains an error response of the API server; nil for other errors.
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
	if isGatewayError(err, status.Code) {
		return NewUserError(KindServerFailed, err,
			fmt.Sprintf("a proxy or load balancer answered instead of the API server: %d %s (%s)", status.Code, http.StatusText(int(status.Code)), status.Message),
			"check that the API server is running, and the way to it: "+proxyHint)
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

// isGatewayError reports whether the response is not from the API server: its own errors are a Status.
func isGatewayError(err error, code int32) bool {
	switch code {
	case http.StatusProxyAuthRequired, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return apierrors.IsUnexpectedServerError(err)
	}
	return false
}

func explainForbidden(err error, status metav1.Status, call apicall.Call) *UserError {
	if !IsMissingPermission(err) {
		return explainAdmission(err, &status, call)
	}
	// A refusal about another resource, e.g. the user to impersonate, is not about the permission for the call
	// itself.
	if call == (apicall.Call{}) || (status.Details != nil && status.Details.Kind != "" && status.Details.Kind != call.Parent()) {
		return NewUserError(KindForbidden, err, "the API server denied the request: "+status.Message,
			"ask for this permission, or use another user (--context, --as)")
	}
	hint := fmt.Sprintf("ask for the verb %q on %q %s, and check it with: %s", call.Verb, call.GroupResource(), call.Where(), call.CanI())
	if call.Namespace == "" {
		hint += "; or choose a namespace with -n"
	}
	return NewUserError(KindForbidden, err,
		fmt.Sprintf("you may not %s %s %s (%s)", call.Verb, call.Resource, call.Where(), status.Message), hint)
}

// IsMissingPermission reports whether a 403 response is about a missing permission. Admission responds with 403, too,
// but only authorization names the user: jobs.batch "train" is forbidden: User "eve" cannot create resource "jobs".
func IsMissingPermission(err error) bool {
	var answer apierrors.APIStatus
	if !apierrors.IsForbidden(err) || !errors.As(err, &answer) {
		return false
	}
	if _, why, found := strings.Cut(answer.Status().Message, afterResource); found {
		return strings.HasPrefix(why, "User ") || strings.HasPrefix(why, "cannot ")
	}
	return meaning.OfRefusal(answer.Status().Message).Kind == meaning.RefusalOther // Webhooks give their own reasons.
}

// afterResource is the text between the forbidden resource and the reason in a 403 message; webhooks omit both.
const afterResource = " is forbidden: "

// explainAdmission explains a 403 response of admission, where permissions do not help.
func explainAdmission(err error, status *metav1.Status, call apicall.Call) *UserError {
	why := status.Message
	if _, reason, found := strings.Cut(why, afterResource); found {
		why = reason
	}
	refusal := meaning.OfRefusal(why)
	hint := "change the request as the message says; this is not about permissions"
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		hint = "the namespace is being deleted: use another one with -n"
	case refusal.Kind == meaning.RefusalQuota:
		hint = fmt.Sprintf("delete what is no longer needed, or ask for a higher quota; see it with: kubectl describe resourcequota %s", refusal.By)
		if call.Namespace != "" {
			hint += " -n " + call.Namespace
		}
	case refusal.Kind == meaning.RefusalPolicy:
		hint = "change the manifest; see the policy with: kubectl get validatingadmissionpolicy " + refusal.By + " -o yaml"
	case slices.Contains([]meaning.RefusalKind{meaning.RefusalWebhook, meaning.RefusalGatekeeper, meaning.RefusalKyverno}, refusal.Kind):
		hint = "change the manifest, or ask who runs this webhook"
	}
	return NewUserError(KindServerFailed, err, "the API server refused the request: "+status.Message, hint)
}

func explainNotFound(err error, status metav1.Status, call apicall.Call) *UserError {
	named := call.Name != "" && status.Details != nil && status.Details.Name == call.Name
	switch {
	case named && call.Namespace != "":
		hint := "list what exists with: kubectl get " + call.GroupResource() + " -n " + call.Namespace
		if IsJobResource(call.Name) { // as in kubectl get jobs
			hint = fmt.Sprintf("for all Jobs, omit %q: kubectl batchjob status -n %s", call.Name, call.Namespace)
		}
		return NewUserError(KindNotFound, err, fmt.Sprintf("%s %q not found %s", call.Singular(), call.Name, call.Where()), hint)
	case status.Details != nil && status.Details.Name != "":
		return NewUserError(KindNotFound, err, status.Message, "check the name and the namespace")
	case call.Resource == "jobsets":
		return NewUserError(KindNotFound, err, "the cluster has no JobSets ("+status.Message+")",
			"install JobSet (https://jobset.sigs.k8s.io), or use another context")
	default:
		return NewUserError(KindNotFound, err, "the server has no such API ("+status.Message+")",
			"check that it is a Kubernetes API server: kubectl config view --minify")
	}
}

const (
	configHint = "kubectl config view --minify"
	proxyHint  = "HTTPS_PROXY, NO_PROXY, and proxy-url of the kubeconfig"
)

// explainTimeout explains a request that reached --request-timeout; nil for other errors.
func explainTimeout(err error) *UserError {
	timeout, is := errors.AsType[*requests.TimeoutError](err)
	if !is {
		return nil
	}
	return NewUserError(KindUnreachable, err, timeout.Error(),
		"check the network and the API server (kubectl get --raw /livez), or wait longer with --request-timeout")
}

// explainProxy explains an error of the proxy to the API server; nil for other errors.
func explainProxy(err error) *UserError {
	failed, is := errors.AsType[*requests.ProxyError](err)
	if !is {
		return nil
	}
	proxy, cause := "the proxy "+failed.Proxy, failed.Err.Err
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](cause); untrusted {
		return NewUserError(kindUntrusted, err, fmt.Sprintf("cannot trust %s: %s", proxy, cause), "check "+proxyHint)
	}
	what := fmt.Sprintf("cannot reach %s to the API server at %s: %s", proxy, failed.Server, whyUnreachable(cause))
	switch timeout, is := errors.AsType[*requests.TimeoutError](cause); {
	case is:
		what = fmt.Sprintf("no answer from %s to the API server at %s within %s: %s", proxy, failed.Server, wording.Duration(timeout.Timeout), timeout.Call)
	case isProxyRefusal(cause):
		what = fmt.Sprintf("%s does not connect to the API server at %s: %s", proxy, failed.Server, cause)
	}
	return NewUserError(KindUnreachable, err, what, "check "+proxyHint)
}

// isProxyRefusal reports whether the proxy answered that it makes no connection. net/http's error then has no type, and only the
// text of the response.
func isProxyRefusal(err error) bool {
	if failed, is := errors.AsType[*net.OpError](err); is {
		return strings.HasPrefix(failed.Op, "socks")
	}
	_, notTLS := errors.AsType[tls.RecordHeaderError](err)
	network := net.Error(nil)
	return !notTLS && !errors.As(err, &network) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF)
}

// explainTransport explains a request that got no response; nil for other errors.
func explainTransport(err error) *UserError {
	var failed *url.Error
	var network net.Error
	var file *fs.PathError // It implements net.Error, too.
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
	server := serverOf(failed)
	if _, is := errors.AsType[*tls.CertificateVerificationError](failed.Err); is {
		return NewUserError(kindUntrusted, err, fmt.Sprintf("cannot trust %s: %s", server, failed.Err),
			"check the server address and certificate authority of this context ("+configHint+")")
	}
	return NewUserError(KindUnreachable, err, fmt.Sprintf("cannot reach %s: %s", server, whyUnreachable(failed.Err)),
		"check that it is running and that the context is correct ("+configHint+")")
}

// serverOf names the API server with the address of a failed request, if that is known.
func serverOf(failed *url.Error) string {
	if u, err := url.Parse(failed.URL); err == nil && u.Host != "" {
		return fmt.Sprintf("the API server at %s://%s", u.Scheme, u.Host)
	}
	return "the API server"
}

// whyUnreachable returns the reason why a host could not be reached.
func whyUnreachable(err error) string {
	var dns *net.DNSError
	var dial *net.OpError
	var network net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &dns):
		return fmt.Sprintf("cannot resolve the host name %q", dns.Name)
	case errors.As(err, &dial) && dial.Op == "dial" && dial.Timeout():
		return "the connection attempt timed out"
	case errors.As(err, &network) && network.Timeout() && !strings.Contains(err.Error(), "TLS handshake"):
		return "no answer in time"
	}
	return err.Error()
}
