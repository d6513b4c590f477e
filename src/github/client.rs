//! Requests to GitHub, with patience where it is safe and none where it is not.
//!
//! Reading and replacing can be repeated without harm; creating cannot, because GitHub may have done it although
//! no answer came. So what creates is sent once, and an unclear outcome is told as such ([`Failure::is_unclear`]).

use std::time::Duration;

use http::header::{ACCEPT, HeaderName, HeaderValue, USER_AGENT};
use http::{Method, Uri};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::Connect;
use hyper_util::rt::TokioExecutor;
use octocrab::OctoBody;
use octocrab::service::middleware::auth_header::AuthHeaderLayer;
use octocrab::service::middleware::base_uri::BaseUriLayer;
use octocrab::service::middleware::extra_headers::ExtraHeadersLayer;
use octocrab::{AuthState, Octocrab, OctocrabBuilder};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};

use crate::system::{Error, Result, interrupt};

use super::failure::Failure;
use super::proxy::{Connector, Proxy};

/// The version of GitHub's interface that is spoken.
const INTERFACE_VERSION: &str = "2022-11-28";

/// Entries on a page of a list: the most that GitHub gives.
const PER_PAGE: usize = 100;
/// The pages of a list that are read at most.
const MOST_PAGES: usize = 100;

/// How often a waiting request looks whether the user asked to stop.
const POLL: Duration = Duration::from_millis(100);

/// A wait that GitHub asks for is granted up to here.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// How long to wait for GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    /// For the answer to one request.
    pub answer: Duration,
    /// Before each repetition of a request that failed.
    pub pauses: Vec<Duration>,
}

impl Default for Patience {
    fn default() -> Self {
        let pauses = [1, 3, 9].map(Duration::from_secs).to_vec();
        Self { answer: Duration::from_secs(30), pauses }
    }
}

/// Shows a text to the user.
pub type Show<'a> = &'a dyn Fn(&str);

/// A connection to one GitHub, for one user.
pub struct Client<'a> {
    runtime: Runtime,
    octocrab: Octocrab,
    patience: Patience,
    /// Where changes are shown, if they are not to be made.
    show: Option<Show<'a>>,
}

impl<'a> Client<'a> {
    /// A client for the interface at this address. Sends nothing yet. Without a token, what is public can be read.
    pub fn new(
        address: &str,
        token: Option<&str>,
        patience: Patience,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let base: Uri =
            address.trim_end_matches('/').parse().ok().filter(is_web).ok_or_else(|| {
                Error::usage(format!("`{address}` is no address of GitHub's interface"))
                    .help("GITHUB_API_URL is like https://api.github.com or https://HOST/api/v3")
            })?;
        let bearer = token.map(bearer).transpose()?;
        let connector = Connector::new(Proxy::of(&base, variable)?);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let inside = runtime.enter();
        let octocrab = if base.scheme_str() == Some("http") {
            assemble(connector, &base, bearer)
        } else {
            let tls = HttpsConnectorBuilder::new().with_native_roots().map_err(|error| {
                Error::publishing("this machine's certificates cannot be read")
                    .because(error)
                    .help("install its package ca-certificates, or name a file with SSL_CERT_FILE")
            })?;
            assemble(tls.https_only().enable_http1().wrap_connector(connector), &base, bearer)
        };
        drop(inside);
        Ok(Self { runtime, octocrab, patience, show: None })
    }

    /// Sends nothing that changes anything, but shows what it would send.
    pub fn only_showing(self, show: Show<'a>) -> Self {
        Self { show: Some(show), ..self }
    }

    /// Whether changes are only shown.
    pub fn only_shows(&self) -> bool {
        self.show.is_some()
    }

    /// What is at this route.
    pub fn get<T: DeserializeOwned>(&self, route: &str) -> Result<T, Failure> {
        self.patiently(&Method::GET, route, None)
    }

    /// All pages of a list. The route may have a query already.
    pub fn list<T: DeserializeOwned>(&self, route: &str) -> Result<Vec<T>, Failure> {
        let mut all = Vec::new();
        let separator = if route.contains('?') { '&' } else { '?' };
        for page in 1..=MOST_PAGES {
            let route = format!("{route}{separator}per_page={PER_PAGE}&page={page}");
            let entries: Vec<T> = self.get(&route)?;
            let is_last = entries.len() < PER_PAGE;
            all.extend(entries);
            if is_last {
                break;
            }
        }
        Ok(all)
    }

    /// Replaces what is there. Repeating it does no harm.
    pub fn replace(&self, method: &Method, route: &str, body: &Value) -> Result<Value, Failure> {
        if let Some(show) = self.show {
            return Ok(shown(show, method, route, body));
        }
        self.patiently(method, route, Some(body))
    }

    /// Creates something: sent once, unless GitHub certainly has not looked at it.
    pub fn create(&self, route: &str, body: &Value) -> Result<Value, Failure> {
        if let Some(show) = self.show {
            return Ok(shown(show, &Method::POST, route, body));
        }
        self.repeat(&Method::POST, route, Some(body), Failure::was_not_looked_at)
    }

    /// Waits as it does between requests. The number counts from 0; none is left when there is no such pause.
    pub fn pause(&self, number: usize) -> Option<Result<(), Failure>> {
        let pause = *self.patience.pauses.get(number)?;
        Some(self.run(async { sleep(pause).await }))
    }

    fn patiently<T: DeserializeOwned>(
        &self,
        method: &Method,
        route: &str,
        body: Option<&Value>,
    ) -> Result<T, Failure> {
        self.repeat(method, route, body, |failure| {
            failure.is_unclear() || failure.was_not_looked_at()
        })
    }

    fn repeat<T: DeserializeOwned>(
        &self,
        method: &Method,
        route: &str,
        body: Option<&Value>,
        can_be_repeated: impl Fn(&Failure) -> bool,
    ) -> Result<T, Failure> {
        let mut pauses = self.patience.pauses.iter();
        loop {
            let failure = match self.request(method, route, body) {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let Some(pause) = pauses.next().filter(|_| can_be_repeated(&failure)) else {
                return Err(failure);
            };
            let pause = match failure.wait_asked_for() {
                Some(wait) if wait > LONGEST_WAIT => return Err(failure),
                Some(wait) => wait,
                None => *pause,
            };
            self.run(async { sleep(pause).await })?;
        }
    }

    fn request<T: DeserializeOwned>(
        &self,
        method: &Method,
        route: &str,
        body: Option<&Value>,
    ) -> Result<T, Failure> {
        let send = async {
            let request = http::Request::builder().method(method).uri(route);
            let request = self.octocrab.build_request(request, body)?;
            let answer = self.octocrab.execute(request).await?;
            let answer = octocrab::map_github_error(answer).await?;
            <T as octocrab::FromResponse>::from_response(answer).await
        };
        let patience = self.patience.answer;
        match self.run(async { timeout(patience, send).await })? {
            Ok(answer) => answer.map_err(|error| Failure::of(&error)),
            Err(_) => Err(Failure::late(patience)),
        }
    }

    /// Waits for something, but not longer than the user wants to.
    fn run<F: Future>(&self, future: F) -> Result<F::Output, Failure> {
        self.runtime.block_on(async {
            let mut future = std::pin::pin!(future);
            loop {
                if let Ok(output) = timeout(POLL, future.as_mut()).await {
                    return Ok(output);
                }
                interrupt::check().map_err(Failure::interrupted)?;
            }
        })
    }
}

/// As JSON: no line of it can be taken for a command by a runner that reads the log.
fn shown(show: Show, method: &Method, route: &str, body: &Value) -> Value {
    show(&format!("{method} {route}\n{body:#}\n"));
    Value::Null
}

fn bearer(token: &str) -> Result<HeaderValue> {
    let mut bearer = HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| {
        Error::usage("the token has characters that no token has")
            .help("look whether GITHUB_TOKEN has a line feed or the like at its end")
    })?;
    bearer.set_sensitive(true);
    Ok(bearer)
}

fn is_web(uri: &Uri) -> bool {
    matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some()
}

/// octocrab's own client would use no proxy, and would repeat what must not be repeated.
fn assemble<C>(connector: C, base: &Uri, bearer: Option<HeaderValue>) -> Octocrab
where
    C: Connect + Clone + Send + Sync + 'static,
{
    let client: HttpClient<C, OctoBody> =
        HttpClient::builder(TokioExecutor::new()).build(connector);
    let program = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION"));
    let headers = vec![
        (USER_AGENT, HeaderValue::from_static(program)),
        (ACCEPT, HeaderValue::from_static("application/vnd.github+json")),
        (
            HeaderName::from_static("x-github-api-version"),
            HeaderValue::from_static(INTERFACE_VERSION),
        ),
    ];
    let built = OctocrabBuilder::new_empty()
        .with_service(client)
        .with_layer(&ExtraHeadersLayer::new(headers.into()))
        .with_layer(&BaseUriLayer::new(base.clone()))
        .with_layer(&AuthHeaderLayer::new(bearer, base.clone(), base.clone()))
        .with_auth(AuthState::None)
        .build();
    match built {
        Ok(octocrab) => octocrab,
        Err(never) => match never {},
    }
}
