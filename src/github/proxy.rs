//! Connections, directly or through the proxy that the environment names.
//!
//! As other programs do, `HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY` are looked at, in small letters first, and
//! `NO_PROXY` for what is not to go through them. A proxy is asked for a tunnel (CONNECT), so that it sees no
//! more than the host's name.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::system::{Error, Result};

/// The most bytes of a proxy's answer.
const LONGEST_ANSWER: usize = 16 << 10;

/// A proxy, and the header with the name and password for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    address: Uri,
    authorization: Option<String>,
}

impl Proxy {
    /// The proxy for requests to this address, if the environment names one.
    pub fn of(target: &Uri, variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>> {
        let set = |name: &str| {
            let either = variable(name).or_else(|| variable(&name.to_ascii_uppercase()));
            either.filter(|value| !value.is_empty())
        };
        let host = target.host().unwrap_or_default();
        if set("no_proxy").is_some_and(|list| is_excepted(host, &list)) {
            return Ok(None);
        }
        let name = if target.scheme_str() == Some("http") { "http_proxy" } else { "https_proxy" };
        let named = [name, "all_proxy"].into_iter().find_map(|name| Some((name, set(name)?)));
        named.map(|(name, value)| Self::parse(&value, name)).transpose()
    }

    fn parse(text: &str, variable: &str) -> Result<Self> {
        // The value is not shown: there may be a password in it.
        let wrong = |what: &str| {
            Error::usage(format!("the proxy in {variable} cannot be used"))
                .because(what)
                .help("write it like http://proxy.example.org:3128")
        };
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let uri: Uri = whole.parse().map_err(|_| wrong("it is no address"))?;
        if uri.scheme_str() != Some("http") {
            return Err(wrong("only proxies that are themselves reached by http are understood"));
        }
        let authority = uri.authority().ok_or_else(|| wrong("it names no host"))?.as_str();
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let port = if uri.port().is_some() { "" } else { ":80" };
        let address = format!("http://{host}{port}");
        let authorization = user.map(|user| {
            let plain: Vec<u8> = percent_encoding::percent_decode_str(user).collect();
            format!("Basic {}", BASE64_STANDARD.encode(plain))
        });
        Ok(Self { address: address.parse().map_err(|_| wrong("it is no address"))?, authorization })
    }
}

/// Whether `NO_PROXY` has the host: itself, a domain that it is in, or everything.
fn is_excepted(host: &str, list: &str) -> bool {
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    list.split(',').map(|entry| entry.trim().to_ascii_lowercase()).any(|entry| {
        let entry = entry.strip_prefix("*.").unwrap_or(&entry).trim_start_matches('.');
        let in_domain = || host.strip_suffix(entry).is_some_and(|rest| rest.ends_with('.'));
        entry == "*" || (!entry.is_empty() && (host == entry || in_domain()))
    })
}

/// Connects to hosts, through the proxy if there is one.
#[derive(Debug, Clone)]
pub struct Connector {
    direct: HttpConnector,
    proxy: Option<Proxy>,
}

impl Connector {
    /// Connections through this proxy.
    pub fn new(proxy: Option<Proxy>) -> Self {
        let mut direct = HttpConnector::new();
        // TLS comes on top of it.
        direct.enforce_http(false);
        Self { direct, proxy }
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<TcpStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.direct.poll_ready(context).map_err(io::Error::other)
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        let proxy = self.proxy.clone();
        let address = proxy.as_ref().map_or(&target, |proxy| &proxy.address).clone();
        let connected = self.direct.call(address);
        Box::pin(async move {
            let Some(proxy) = proxy else { return connected.await.map_err(io::Error::other) };
            let in_words = |error: io::Error| {
                io::Error::new(
                    error.kind(),
                    format!("through the proxy {}: {error}", proxy.address),
                )
            };
            let stream = connected.await.map_err(|error| in_words(io::Error::other(error)))?;
            let stream = stream.into_inner();
            open_tunnel(&stream, &target, &proxy).await.map_err(in_words)?;
            Ok(TokioIo::new(stream))
        })
    }
}

/// Asks the proxy at the other end to connect to the target.
async fn open_tunnel(stream: &TcpStream, target: &Uri, proxy: &Proxy) -> io::Result<()> {
    let default = if target.scheme_str() == Some("http") { 80 } else { 443 };
    let host = target.host().ok_or_else(|| io::Error::other("the address has no host"))?;
    let authority = format!("{host}:{}", target.port_u16().unwrap_or(default));
    let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
    if let Some(authorization) = &proxy.authorization {
        request += &format!("Proxy-Authorization: {authorization}\r\n");
    }
    request += "\r\n";
    write(stream, request.as_bytes()).await?;
    let answer = read_head(stream).await?;
    let status = answer.split(' ').nth(1).unwrap_or_default();
    match status {
        _ if status.len() == 3 && status.starts_with('2') => Ok(()),
        "407" => Err(io::Error::other("it wants a user's name and password (407)")),
        _ => {
            let line = answer.lines().next().unwrap_or_default();
            Err(io::Error::other(format!("it does not connect to {authority}: {line}")))
        }
    }
}

async fn write(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.writable().await?;
        match stream.try_write(bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads up to the empty line. Until a request is sent through the tunnel, nothing follows it.
async fn read_head(stream: &TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() > LONGEST_ANSWER {
            return Err(io::Error::other("its answer is too long"));
        }
        let mut buffer = [0; 512];
        stream.readable().await?;
        match stream.try_read(&mut buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => head.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(target: &str, variables: &[(&str, &str)]) -> Option<Proxy> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Proxy::of(&target.parse().unwrap(), &variable).unwrap()
    }

    const GITHUB: &str = "https://api.github.com";

    #[test]
    fn the_environment_names_proxies_as_for_other_programs() {
        let address = |variables| Some(proxy(GITHUB, variables)?.address.to_string());
        assert_eq!(address(&[]), None);
        assert_eq!(address(&[("HTTP_PROXY", "http://p:1")]), None);
        assert_eq!(address(&[("HTTPS_PROXY", "http://p:1")]).unwrap(), "http://p:1/");
        assert_eq!(address(&[("https_proxy", "p"), ("HTTPS_PROXY", "q")]).unwrap(), "http://p:80/");
        assert_eq!(address(&[("ALL_PROXY", "http://p:1/")]).unwrap(), "http://p:1/");
        assert_eq!(address(&[("HTTPS_PROXY", "")]), None);
        let plain = proxy("http://ghe/api/v3", &[("http_proxy", "p:8080")]).unwrap();
        assert_eq!(plain.address.to_string(), "http://p:8080/");
    }

    #[test]
    fn what_is_excepted_is_reached_directly() {
        for (list, excepted) in [
            ("github.com", true),
            (".github.com", true),
            ("*.github.com", true),
            ("localhost, API.github.com", true),
            ("*", true),
            ("hub.com", false),
            ("", false),
            (",", false),
        ] {
            let variables = [("HTTPS_PROXY", "p:1"), ("NO_PROXY", list)];
            assert_eq!(proxy(GITHUB, &variables).is_none(), excepted, "{list}");
        }
    }

    #[test]
    fn names_and_passwords_are_sent_and_never_shown() {
        let found = proxy(GITHUB, &[("https_proxy", "http://me:p%40ss@p:1")]).unwrap();
        assert_eq!(found.authorization.unwrap(), "Basic bWU6cEBzcw==");
        assert_eq!(found.address.to_string(), "http://p:1/");
        let variable = |name: &str| (name == "https_proxy").then(|| "socks5://me:secret@p".into());
        let error = Proxy::of(&GITHUB.parse().unwrap(), &variable).unwrap_err().to_string();
        assert!(error.contains("https_proxy") && !error.contains("secret"), "{error}");
    }
}
