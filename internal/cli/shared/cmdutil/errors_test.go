package cmdutil

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func TestExplainError(t *testing.T) {
	jobs := schema.GroupResource{Group: "batch", Resource: "jobs"}
	list := apicall.Call{Verb: "list", Group: "batch", Resource: "jobs", Namespace: "prod"}
	get := apicall.Call{Verb: "get", Group: "batch", Resource: "jobs", Namespace: "prod", Name: "train"}
	create := apicall.Call{Verb: "create", Group: "batch", Resource: "jobs", Namespace: "prod"}
	terminating := apierrors.NewForbidden(jobs, "train", errors.New("unable to create new content in namespace prod because it is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	forbidden := apierrors.NewForbidden(jobs, "", errors.New(`User "eve" cannot list`))
	refused := &url.Error{Op: "Get", URL: "https://10.0.0.1:6443/apis?x=1", Err: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}}
	for _, tc := range []struct {
		name  string
		err   error
		kind  ErrorKind
		code  int
		parts []string // facts that the line must contain
	}{
		{"plain", errors.New("boom"), KindOther, 1, []string{"boom"}},
		{"usage", UsageErrorf("bad flag"), KindUsage, 2, nil},
		{"wrapped usage", fmt.Errorf("x: %w", UsageErrorf("bad flag")), KindUsage, 2, nil},
		{"interrupted", &url.Error{Op: "Get", URL: "https://h/", Err: context.Canceled}, kindInterrupted, 130, nil},
		{"forbidden", list.Wrap(forbidden), KindForbidden, 1, []string{"list", "jobs.batch", `"prod"`, "eve", "ask for", "can-i"}},
		{"forbidden everywhere", apicall.Call{Verb: "watch", Group: "batch", Resource: "jobs"}.Wrap(forbidden), KindForbidden, 1, []string{"watch", "all namespaces", "-A"}},
		{"forbidden of unknown call", forbidden, KindForbidden, 1, []string{"eve", "ask for"}},
		{"forbidden to impersonate", list.Wrap(apierrors.NewForbidden(schema.GroupResource{Resource: "users"}, "bob", errors.New("cannot impersonate"))), KindForbidden, 1, []string{"users", "bob", "--as"}},
		{
			"exceeded quota", create.Wrap(apierrors.NewForbidden(jobs, "train", errors.New("exceeded quota: few, requested: count/jobs.batch=1, used: count/jobs.batch=3, limited: count/jobs.batch=3"))), KindServerFailed, 1,
			[]string{"count/jobs.batch=3", "kubectl describe resourcequota few -n prod"},
		},
		{"terminating namespace", create.Wrap(terminating), KindServerFailed, 1, []string{"being terminated", "another one with -n"}},
		{"policy", create.Wrap(apierrors.NewForbidden(jobs, "train", errors.New("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"))), KindServerFailed, 1, []string{"validatingadmissionpolicy p"}},
		{
			"webhook", create.Wrap(&apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 403, Reason: metav1.StatusReasonForbidden, Message: `admission webhook "w.example" denied the request: no`}}), KindServerFailed, 1,
			[]string{"w.example", "webhook"},
		},
		{"Pod Security", create.Wrap(apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "train", errors.New(`violates PodSecurity "restricted:latest": privileged`))), KindServerFailed, 1, []string{"restricted:latest", "this is not about permissions"}},
		{"unknown admission plugin", create.Wrap(apierrors.NewForbidden(jobs, "train", errors.New("pod does not have the right shape"))), KindServerFailed, 1, []string{"right shape", "this is not about permissions"}},
		{"no such Job", get.Wrap(apierrors.NewNotFound(jobs, "train")), KindNotFound, 1, []string{"train", `"prod"`}},
		{"no such API", list.Wrap(apierrors.NewGenericServerResponse(404, "list", jobs, "", "404 page not found", 0, true)), KindNotFound, 1, []string{"API"}},
		{"not logged in", list.Wrap(apierrors.NewUnauthorized("token expired")), KindCredentials, 1, []string{"token expired", "log in"}},
		{"busy", list.Wrap(apierrors.NewTooManyRequests("slow down", 1)), KindServerFailed, 1, []string{"slow down", "again"}},
		{"internal", list.Wrap(apierrors.NewInternalError(errors.New("etcd"))), KindServerFailed, 1, []string{"etcd"}},
		{"refused", list.Wrap(refused), KindUnreachable, 1, []string{"https://10.0.0.1:6443", "refused"}},
		{"unresolved", &url.Error{Op: "Get", URL: "https://h.example/", Err: &net.DNSError{Name: "h.example", IsNotFound: true}}, KindUnreachable, 1, []string{"h.example"}},
		{"timeout", &url.Error{Op: "Get", URL: "https://h/", Err: context.DeadlineExceeded}, KindUnreachable, 1, []string{"https://h"}},
		{"bare timeout", context.DeadlineExceeded, KindUnreachable, 1, nil},
		{"certificate", &url.Error{Op: "Get", URL: "https://h/", Err: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}, kindUntrusted, 1, []string{"https://h", "authority"}},
		{"exec plugin", &url.Error{Op: "Get", URL: "https://h/", Err: errors.New("getting credentials: exec: aws not found")}, KindCredentials, 1, []string{"aws"}},
		{"empty configuration", clientcmd.ErrEmptyConfig, KindKubeconfig, 1, []string{"--kubeconfig"}},
		{"hostile", list.Wrap(apierrors.NewInternalError(errors.New("a\x1b[2J\r\nb\u202e\x9b"))), KindServerFailed, 1, []string{`\x1b`, `\u202e`, `\x9b`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ExplainError(tc.err)
			if KindOf(got) != tc.kind || ExitCode(tc.err) != tc.code {
				t.Errorf("kind %s, exit %d; want %s, %d", KindOf(got), ExitCode(tc.err), tc.kind, tc.code)
			}
			line := got.Error()
			assert.Equal(t, sanitize.Line(line), line)
			for _, part := range tc.parts {
				assert.Contains(t, line, part)
			}
			if again := ExplainError(got); again.Error() != line || KindOf(again) != tc.kind {
				t.Errorf("explained twice: %q", again)
			}
			if cause := errors.Unwrap(got); cause != nil && !errors.Is(got, tc.err) && !errors.Is(tc.err, got) {
				t.Error("the cause is lost")
			}
		})
	}
}

func TestExplainErrorNil(t *testing.T) {
	if ExplainError(nil) != nil || ExitCode(nil) != 0 || ExplainError(errors.Join(nil, nil)) != nil {
		t.Error("nil is no error")
	}
}

func TestPrintErrorWritesOneLinePerError(t *testing.T) {
	for name, err := range map[string]error{
		"joined":    errors.Join(errors.New("one\nmore"), errors.Join(errors.New("two"))),
		"aggregate": utilerrors.NewAggregate([]error{errors.New("one\nmore"), errors.New("two")}),
	} {
		var b strings.Builder
		PrintError(&b, err)
		assert.Equal(t, b.String(), "error: one more\nerror: two\n", name)
	}
	var b strings.Builder
	PrintError(&b, fmt.Errorf("doing x: %w and %w", errors.New("a"), errors.New("b")))
	assert.Equal(t, b.String(), "error: doing x: a and b\n", "text of a wrapper is lost")
	b.Reset()
	PrintError(&b, context.Canceled)
	assert.Equal(t, b.Len(), 0, b.String(), "an interruption")
}
