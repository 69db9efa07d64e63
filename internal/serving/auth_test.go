package serving

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// reviewing is a handler and the fake API server that reviews its tokens.
type reviewing struct {
	http.Handler
	clock *clocktesting.FakeClock

	mu sync.Mutex
	// users are the users of valid tokens, and mayGet the path that each user may get.
	users, mayGet map[string]string
	// fails is the resource whose review fails.
	fails string
	// asked are the reviewed tokens, as "client token", and access is the last SubjectAccessReview.
	asked  []string
	access authorizationv1.SubjectAccessReviewSpec
	// hangs, if set, blocks the review of the token "junk" until it is closed.
	hangs chan struct{}
}

func newReviewing() *reviewing {
	api := &reviewing{
		clock: clocktesting.NewFakeClock(time.Unix(1_000_000, 0)),
		users: map[string]string{"good": "prometheus"}, mayGet: map[string]string{"prometheus": "/metrics"},
	}
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	api.Handler = WithAuthorization(ok, reviewClient{api: api, name: "unknown"}, reviewClient{api: api, name: "known"}, api.clock)
	return api
}

// reviewClient is a client of reviewing without a rate limit.
type reviewClient struct {
	kube.Interface
	api  *reviewing
	name string
}

func (c reviewClient) AuthenticationV1() kube.AuthenticationV1 { return tokens{c} }
func (c reviewClient) AuthorizationV1() kube.AuthorizationV1   { return access{c} }

type tokens struct{ reviewClient }

func (c tokens) TokenReviews() kube.TokenReviews { return c }

func (c tokens) Create(ctx context.Context, o *authenticationv1.TokenReview, _ metav1.CreateOptions) (*authenticationv1.TokenReview, error) {
	if c.api.hangs != nil && o.Spec.Token == "junk" {
		<-c.api.hangs
	}
	c.api.mu.Lock()
	defer c.api.mu.Unlock()
	c.api.asked = append(c.api.asked, c.name+" "+o.Spec.Token)
	if c.api.fails == "tokenreviews" {
		return nil, errors.New("no answer")
	}
	user, valid := c.api.users[o.Spec.Token]
	o.Status.Authenticated = valid
	o.Status.User = authenticationv1.UserInfo{Username: user, Groups: []string{"g"}, Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}}}
	return o, ctx.Err()
}

type access struct{ reviewClient }

func (c access) SubjectAccessReviews() kube.SubjectAccessReviews         { return c }
func (c access) SelfSubjectAccessReviews() kube.SelfSubjectAccessReviews { return nil }

func (c access) Create(_ context.Context, o *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	c.api.mu.Lock()
	defer c.api.mu.Unlock()
	if c.api.fails == "subjectaccessreviews" {
		return nil, errors.New("no answer")
	}
	c.api.access = o.Spec
	o.Status.Allowed = c.api.mayGet[o.Spec.User] == o.Spec.NonResourceAttributes.Path
	return o, nil
}

// get sends a request for a path from an address.
func (api *reviewing) get(ctx context.Context, header, path, peer string) int {
	request, answer := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil), httptest.NewRecorder()
	request.Header.Set("Authorization", header)
	request.RemoteAddr = peer + ":1234"
	api.ServeHTTP(answer, request)
	return answer.Code
}

// want sends a request for the metrics, and checks the status code and the reviews.
func (api *reviewing) want(t *testing.T, token string, code int, asked ...string) {
	t.Helper()
	api.asked = nil
	if got := api.get(t.Context(), "Bearer "+token, "/metrics", "10.0.0.1"); got != code || !slices.Equal(api.asked, asked) {
		t.Errorf("%s: %d, after %q; want %d after %q", token, got, api.asked, code, asked)
	}
}

// JOB-52: the API server's two reviews decide which users may read the metrics; if it does not respond, no user may.
func TestMetricsAreForThoseWhoMayReadThem(t *testing.T) {
	for name, c := range map[string]struct {
		header, path string
		fails        string
		want         int
	}{
		"no token":               {"", "/metrics", "", http.StatusUnauthorized},
		"another scheme":         {"Basic abc", "/metrics", "", http.StatusUnauthorized},
		"empty token":            {"Bearer  ", "/metrics", "", http.StatusUnauthorized},
		"unknown token":          {"Bearer x", "/metrics", "", http.StatusUnauthorized},
		"not allowed":            {"Bearer good", "/configz", "", http.StatusForbidden},
		"no answer about tokens": {"Bearer good", "/metrics", "tokenreviews", http.StatusServiceUnavailable},
		"no answer about access": {"Bearer good", "/metrics", "subjectaccessreviews", http.StatusServiceUnavailable},
		"allowed":                {"Bearer good", "/metrics", "", http.StatusOK},
	} {
		api := newReviewing()
		api.fails = c.fails
		assert.Equal(t, api.get(t.Context(), c.header, c.path, "10.0.0.1"), c.want, name)
		asked := api.access
		if c.want == http.StatusOK && (asked.User != "prometheus" || asked.Groups[0] != "g" || asked.Extra["k"][0] != "v" ||
			asked.NonResourceAttributes == nil || *asked.NonResourceAttributes != authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"}) {
			t.Errorf("%s: asked %+v", name, asked)
		}
	}
}

// Answers are cached for a while, permissions for longer than refusals. A withdrawn permission expires, even while the API
// server does not respond, and applies to one path.
// Requirements: JOB-52, JOB-67
func TestAnswersAreRememberedForAWhile(t *testing.T) {
	api := newReviewing()
	api.want(t, "good", http.StatusOK, "unknown good")
	api.clock.Step(permissionTime)
	delete(api.users, "good")
	api.want(t, "good", http.StatusOK)
	assert.Equal(t, api.get(t.Context(), "Bearer good", "/configz", "10.0.0.1"), http.StatusUnauthorized, "another path")
	api.clock.Step(1)
	api.fails = "tokenreviews"
	api.want(t, "good", http.StatusServiceUnavailable, "known good")
	api.fails = ""
	api.want(t, "good", http.StatusUnauthorized, "known good")
	api.users["good"] = "prometheus"
	api.clock.Step(refusalTime)
	api.want(t, "good", http.StatusUnauthorized)
	api.clock.Step(1)
	api.want(t, "good", http.StatusOK, "unknown good")
	api.clock.Step(permissionTime + 1)
	delete(api.mayGet, "prometheus")
	api.want(t, "good", http.StatusForbidden, "known good")
	api.want(t, "good", http.StatusForbidden)
}

// flood sends n requests with an invalid token from each of several addresses. The admitted ones wait for the API server
// until the test ends; the others must be rejected at once.
func (api *reviewing) flood(t *testing.T, addresses, n, admitted int) {
	t.Helper()
	api.hangs = make(chan struct{})
	codes := make(chan int, addresses*n)
	for i := range addresses * n {
		go func() {
			codes <- api.get(context.Background(), "Bearer junk", "/metrics", fmt.Sprintf("10.0.1.%d", i%addresses))
		}()
	}
	for range addresses*n - admitted {
		assert.Equal(t, <-codes, http.StatusTooManyRequests, "one too many")
	}
	t.Cleanup(func() {
		close(api.hangs)
		for range admitted {
			assert.Equal(t, <-codes, http.StatusUnauthorized, "one that waited")
		}
		assert.Equal(t, api.get(context.Background(), "Bearer new", "/metrics", "10.0.1.0"), http.StatusUnauthorized, "afterward")
	})
}

// Invalid tokens from one address do not delay other addresses whose tokens were never allowed before.
// Requirements: JOB-52, JOB-67
func TestInvalidTokensOfOneAddressHoldUpNobodyElse(t *testing.T) {
	api := newReviewing()
	api.flood(t, 1, 40, maxPeerReviews)
	api.want(t, "good", http.StatusOK, "unknown good")
}

// Invalid tokens from any number of addresses do not delay a token that was allowed before, even if it must be reviewed
// again; and the number of waiting requests is bounded.
// Requirements: JOB-52, JOB-67
func TestInvalidTokensHoldUpNoTokenThatWasAllowed(t *testing.T) {
	api := newReviewing()
	api.want(t, "good", http.StatusOK, "unknown good")
	api.flood(t, 70, 2, maxReviews+maxWaiting)
	api.want(t, "good", http.StatusOK)
	api.clock.Step(permissionTime + 1)
	api.want(t, "good", http.StatusOK, "known good")
	api.want(t, "new", http.StatusTooManyRequests)
}

// However many invalid tokens are sent, the cache is bounded, and no permission is evicted. The number of cached permissions
// is bounded, too.
// Requirements: JOB-67
func TestAnswersThatAreRememberedAreBounded(t *testing.T) {
	api := newReviewing()
	api.want(t, "good", http.StatusOK, "unknown good")
	for i := range maxAnswers + 10 {
		api.clock.Step(time.Millisecond)
		api.want(t, fmt.Sprint(i), http.StatusUnauthorized, fmt.Sprintf("unknown %d", i))
	}
	api.want(t, "good", http.StatusOK)
	api.want(t, fmt.Sprint(maxAnswers+9), http.StatusUnauthorized)
	api.want(t, "0", http.StatusUnauthorized, "unknown 0")
	for i := range maxAnswers {
		token := fmt.Sprintf("valid %d", i)
		api.users[token] = "prometheus"
		api.want(t, token, http.StatusOK, "unknown "+token)
	}
	api.want(t, "valid 0", http.StatusOK)
	api.want(t, "good", http.StatusOK, "unknown good")
}

// A client that hangs up during the review of its token adds no line to the log, so it cannot fill the log.
// Requirements: JOB-67
func TestHangingUpIsNotLogged(t *testing.T) {
	lines := 0
	logger := funcr.New(func(string, string) { lines++ }, funcr.Options{})
	api := newReviewing()
	ctx, hangUp := context.WithCancel(logr.NewContext(t.Context(), logger))
	api.fails = "tokenreviews"
	if code := api.get(ctx, "Bearer good", "/metrics", "10.0.0.1"); code != http.StatusServiceUnavailable || lines != 1 {
		t.Errorf("no answer: %d, and %d lines in the log", code, lines)
	}
	hangUp()
	if api.get(ctx, "Bearer good", "/metrics", "10.0.0.1"); lines != 1 {
		t.Errorf("after it has hung up, there are %d lines in the log", lines)
	}
}
