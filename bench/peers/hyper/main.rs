// Rust's hyper on one thread, with rand's ChaCha generator and serde_json. No certificate, no limits, nothing durable.
use hyper::service::{make_service_fn, service_fn};
use hyper::{Body, Method, Request, Response, Server, StatusCode};
use rand::{thread_rng, Rng, RngCore};
use serde::Deserialize;
use serde_json::{json, Value};
use std::convert::Infallible;
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Deserialize, Default)]
struct Params {
    min: Option<i64>,
    max: Option<i64>,
    precision: Option<i32>,
    length: Option<usize>,
}

#[derive(Deserialize)]
struct Order {
    #[serde(rename = "type")]
    kind: String,
    count: usize,
    #[serde(default)]
    params: Params,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn uuid(random: &mut impl RngCore) -> String {
    let mut id = [0u8; 16];
    random.fill_bytes(&mut id);
    id[6] = id[6] & 0x0f | 0x40;
    id[8] = id[8] & 0x3f | 0x80;
    let text = hex(&id);
    format!("{}-{}-{}-{}-{}", &text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..])
}

fn draw(random: &mut impl RngCore, order: &Order) -> Value {
    let Params { min, max, precision, length } = &order.params;
    let numbers = 0..order.count;
    match order.kind.as_str() {
        "floats" => numbers
            .map(|_| match precision {
                None => (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64,
                Some(places) => {
                    let scale = 10i64.pow(*places as u32);
                    random.gen_range(0..scale) as f64 / scale as f64
                }
            })
            .collect(),
        "bytes" => {
            let mut piece = vec![0u8; length.unwrap_or(16)];
            numbers
                .map(|_| {
                    random.fill_bytes(&mut piece);
                    hex(&piece)
                })
                .collect()
        }
        "uuid" => numbers.map(|_| uuid(random)).collect(),
        _ => {
            let (min, max) = (min.unwrap_or(0), max.unwrap_or(100));
            numbers.map(|_| random.gen_range(min..=max)).collect()
        }
    }
}

fn answer(order: &Order) -> Response<Body> {
    let mut random = thread_rng();
    let request_id = uuid(&mut random);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let body = json!({
        "data": {"count": order.count, "values": draw(&mut random, order),
            "metadata": {"entropy_mode": "csprng", "quantum_source": "none"}},
        "meta": {"duration_ms": 0, "request_id": request_id},
        "metadata": {"entropy_origin": "system", "nist_verified": false, "powered_by": "peer",
            "quantum_backend": "none", "request_id": request_id, "timestamp": now.as_millis() as u64},
        "quantum_credits": {"remaining": null, "total": null, "used": 0},
    });
    Response::builder()
        .header("Content-Type", "application/json")
        .header("Cache-Control", "no-store")
        .header("X-Entropy-Mode", "csprng")
        .header("X-Entropy-Origin", "system")
        .header("X-Request-ID", request_id)
        .body(Body::from(serde_json::to_vec(&body).unwrap()))
        .unwrap()
}

fn count_of(query: &str) -> usize {
    let given = query.split('&').find_map(|pair| pair.strip_prefix("count="));
    given.and_then(|text| text.parse().ok()).unwrap_or(1)
}

async fn serve(request: Request<Body>) -> Result<Response<Body>, Infallible> {
    if request.method() == Method::GET {
        let count = count_of(request.uri().query().unwrap_or(""));
        return Ok(answer(&Order { kind: "integers".into(), count, params: Params::default() }));
    }
    let body = hyper::body::to_bytes(request.into_body()).await.unwrap_or_default();
    Ok(match serde_json::from_slice::<Order>(&body) {
        Ok(order) => answer(&order),
        Err(_) => Response::builder().status(StatusCode::BAD_REQUEST).body(Body::empty()).unwrap(),
    })
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let make = make_service_fn(|_| async { Ok::<_, Infallible>(service_fn(serve)) });
        let server = Server::bind(&([127, 0, 0, 1], 0).into()).tcp_nodelay(true).serve(make);
        println!("ready http://{}", server.local_addr());
        server.await.unwrap();
    });
}
