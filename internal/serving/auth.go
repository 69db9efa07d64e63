package serving

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// Limits on requests whose token is not known yet: anyone who can reach the address may
// send them.
const (
	maxReviews = 20
	reviewTime = 10 * time.Second
)

// Reviewed allows requests with a bearer token that the API server authenticates
// (TokenReview) and authorizes to get the path (SubjectAccessReview of the non-resource
// URL). The client limits the rate of reviews. k8s.io/apiserver's filters do the same and
// more, for 13 MB of binary (docs/adr/0006).
func Reviewed(next http.Handler, client kube.Interface) http.Handler {
	slots := make(chan struct{}, maxReviews)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if token = strings.TrimSpace(token); !found || token == "" {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a bearer token is required", http.StatusUnauthorized)
			return
		}
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		default:
			http.Error(w, "too many permission checks at once", http.StatusTooManyRequests)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), reviewTime)
		defer cancel()
		user, err := whoIs(ctx, client, token)
		if err == nil && user != nil {
			err = mayGet(ctx, client, *user, r)
		}
		switch {
		case errors.Is(err, errDenied):
			http.Error(w, "this user has no permission to get "+r.URL.Path, http.StatusForbidden)
		case err != nil:
			klog.FromContext(r.Context()).Error(err, "Cannot check who may read", "path", r.URL.Path)
			http.Error(w, "the API server cannot check who may read this", http.StatusServiceUnavailable)
		case user == nil:
			http.Error(w, "this token is not valid", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// whoIs returns the user of a token, nil if it is invalid.
func whoIs(ctx context.Context, client kube.Interface, token string) (*authenticationv1.UserInfo, error) {
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	answer, err := client.AuthenticationV1().TokenReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil || !answer.Status.Authenticated {
		return nil, err
	}
	return &answer.Status.User, nil
}

var errDenied = errors.New("denied")

func mayGet(ctx context.Context, client kube.Interface, user authenticationv1.UserInfo, r *http.Request) error {
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, Groups: user.Groups, UID: user.UID, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: r.URL.Path, Verb: "get"},
	}}
	answer, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if !answer.Status.Allowed {
		return errDenied
	}
	return nil
}
