//! Puts a frame's draw commands on a canvas. The colours are the style sheet's, read again when the theme changes.

use cascade_scene::timeline::layout::{HEAD, MINIMAP};
use cascade_scene::timeline::{Frame, Ink, PAINTS, Rect, Text};
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, HtmlElement};

/// Letters of the canvas.
const FONT: &str = "11px ui-sans-serif, system-ui, sans-serif";
/// Names of lanes.
const STRONG: &str = "600 12px ui-sans-serif, system-ui, sans-serif";

/// A canvas that knows its size in CSS px and the device's pixel ratio.
pub(super) struct Surface {
    canvas: HtmlCanvasElement,
    ctx: CanvasRenderingContext2d,
    pub(super) width: f64,
    pub(super) height: f64,
    ratio: f64,
    /// Colours by the position of their ink.
    colors: Vec<String>,
}

impl Surface {
    /// A canvas of the page, or one that is never shown.
    pub(super) fn new(canvas: HtmlCanvasElement) -> Option<Self> {
        let ctx = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        Some(Self {
            canvas,
            ctx,
            width: 0.0,
            height: 0.0,
            ratio: 1.0,
            colors: Vec::new(),
        })
    }

    /// Takes a size in CSS px; what was drawn is lost.
    pub(super) fn resize(&mut self, width: f64, height: f64) {
        self.ratio = leptos::prelude::window().device_pixel_ratio().max(1.0);
        (self.width, self.height) = (width, height);
        self.canvas.set_width((width * self.ratio).round() as u32);
        self.canvas.set_height((height * self.ratio).round() as u32);
        // It fails for no property that there is.
        _ = self.canvas.style().set_property("height", &format!("{height}px"));
    }

    /// Whether the device's pixels are others than those it was sized for.
    pub(super) fn is_stale(&self) -> bool {
        (leptos::prelude::window().device_pixel_ratio().max(1.0) - self.ratio).abs() > 1e-3
    }

    /// Reads the colours that `probe`, an element of the page, has now.
    pub(super) fn read_colors(&mut self, probe: &HtmlElement) {
        let Ok(Some(style)) = leptos::prelude::window().get_computed_style(probe) else {
            return;
        };
        let read = |ink: Ink| {
            // A custom property is not resolved by itself; a colour that refers to it is.
            _ = probe
                .style()
                .set_property("color", &format!("var({})", ink.token()));
            style.get_property_value("color").unwrap_or_default()
        };
        self.colors = Ink::all().map(read).collect();
    }

    /// The colours of another canvas.
    pub(super) fn share_colors(&mut self, other: &Self) {
        self.colors.clone_from(&other.colors);
    }

    fn ink(&self, ink: Ink) {
        if let Some(color) = self.colors.get(ink.at()) {
            self.ctx.set_fill_style_str(color);
        }
    }

    fn rect(&self, rect: &Rect) {
        self.ctx.fill_rect(rect.x, rect.y, rect.w, rect.h);
    }

    fn clear(&self) {
        // Only a matrix without inverse is refused.
        _ = self.ctx.set_transform(self.ratio, 0.0, 0.0, self.ratio, 0.0, 0.0);
        self.ctx.clear_rect(0.0, 0.0, self.width, self.height);
    }

    fn bars(&self, bars: &[Vec<Rect>; PAINTS]) {
        for (paint, bars) in (0_u8..).zip(bars) {
            if !bars.is_empty() {
                self.ink(Ink::Bar(paint));
                bars.iter().for_each(|bar| self.rect(bar));
            }
        }
    }

    fn fills(&self, fills: &[(Ink, Rect)]) {
        let mut last = None;
        for (ink, rect) in fills {
            if last != Some(*ink) {
                self.ink(*ink);
                last = Some(*ink);
            }
            self.rect(rect);
        }
    }

    fn texts(&self, texts: &[Text]) {
        for strong in [false, true] {
            self.ctx.set_font(if strong { STRONG } else { FONT });
            let mut last = None;
            for text in texts.iter().filter(|text| text.strong == strong) {
                if last != Some(text.ink) {
                    self.ink(text.ink);
                    last = Some(text.ink);
                }
                // It fails for no text that is a string.
                _ = self.ctx.fill_text(&text.text, text.x, text.y);
            }
        }
    }

    /// Draws bars alone: the strip that shows everything.
    pub(super) fn strip(&self, frame: &Frame) {
        self.clear();
        self.bars(&frame.bars);
    }

    /// Draws a whole frame, with `strip` on top.
    pub(super) fn draw(&self, frame: &Frame, strip: &Self) {
        self.clear();
        self.ctx.save();
        self.ctx.begin_path();
        self.ctx.rect(0.0, HEAD, self.width, self.height - HEAD);
        self.ctx.clip();
        self.fills(&frame.fills);
        self.bars(&frame.bars);
        self.texts(&frame.texts);
        self.ctx.set_line_width(2.0);
        for (ink, rect) in &frame.outlines {
            if let Some(color) = self.colors.get(ink.at()) {
                self.ctx.set_stroke_style_str(color);
                self.ctx.stroke_rect(rect.x, rect.y, rect.w, rect.h);
            }
        }
        self.ctx.restore();
        // It fails only for a canvas without pixels, which shows nothing.
        _ = self.ctx.draw_image_with_html_canvas_element_and_dw_and_dh(
            &strip.canvas,
            0.0,
            0.0,
            self.width,
            MINIMAP - 4.0,
        );
        self.texts(&frame.ruler);
        self.fills(&frame.over);
        self.texts(&frame.notes);
    }
}
